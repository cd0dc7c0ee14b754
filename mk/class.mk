# What a teacher types. Included by the Makefile; a handout comes without.

##@ Teaching
##= SUBMISSIONS=hw1 ## of class: the folder with one folder or archive a student, or an unpacked bulk download
##= COURSE=course.toml ## of class: chapters, due dates, weights, the secret (docs/class.md)
##= OUTPUT=graded ## of class: the folder that everything goes to; SUBMISSIONS-graded when not given
##= ENGINE=slurm ## of class: on a Slurm cluster; on this machine when not given
##= SLURM="partition=gpu time=30" ## of class with ENGINE=slurm: what sbatch is told (docs/slurm.md)
##= TRUST=1 ## of class: compile without a sandbox, where every submission is trusted
CLASS_NEEDS := $(call installed,class)
.PHONY: class class-drill
class: $(NEEDS_GRADER) $(CLASS_NEEDS) $(TOOLCHAIN) tools ## grade a folder of submissions: gradebook, a page a student, a class page; SUBMISSIONS=dir
	@$(if $(SUBMISSIONS),,echo "warpbook: which submissions? make class SUBMISSIONS=folder" >&2; exit 2;) \
	$(GRADER) class $(if $(OUTPUT),--out '$(OUTPUT)') $(if $(COURSE),--course '$(COURSE)') $(if $(ENGINE),--engine '$(ENGINE)') $(foreach word,$(SLURM),--slurm '$(word)') \
	    $(if $(JOBS),--jobs '$(JOBS)') $(if $(TRUST),--trust) $(if $(DEVICE),--device '$(DEVICE)') $(if $(FRESH),--fresh) $(AS_JSON) \
	    -- '$(SUBMISSIONS)' $(CH)

##@ The workbook itself
##= STUDENTS=20 ## of class-drill; 200 when not given
##= KILLS=20 ## of class-drill: end so many runs by SIGKILL, and go on
class-drill: $(NEEDS_GRADER) $(CLASS_NEEDS) $(TOOLCHAIN) drivers ## grade a made-up class, a fifth of it hostile, and compare every verdict; STUDENTS=20 KILLS=3
	@$(PY) tests/class/drill.py $(if $(STUDENTS),--students $(STUDENTS)) $(if $(KILLS),--kills $(KILLS)) $(if $(JOBS),--jobs $(JOBS))
