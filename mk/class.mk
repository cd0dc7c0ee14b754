# What a teacher types. Included by the Makefile; not part of a handout.

##@ teacher: Grading a class
##= SUBMISSIONS=hw1 ## of class: the folder with a folder or archive for each student, or an unpacked bulk download
##= COURSE=course.toml ## of class: chapters, due dates, weights, the secret (docs/class.md)
##= OUTPUT=graded ## of class: the folder to write; SUBMISSIONS-graded if not given
##= CH="ch01 ch02" ## of class, handout, gradescope and autolab: the chapters; all if not given
##= ENGINE=slurm ## of class: run on a Slurm cluster; on this machine if not given
##= SLURM="partition=gpu time=30" ## of class with ENGINE=slurm: options of sbatch (docs/slurm.md)
##= DEVICE=gpu ## of class: time on a GPU; the course's device, or the emulator, if not given
##= FRESH=1 ## of class: judge again what has not changed
##= STUDENT=ada ## of class: grade only this student, or these (STUDENT=ada,ben); the rest stays as it is
##= ONLY="ch04" ## of class: judge only this chapter, or these; the others stay as they are
##= WHAT_IF=1 ## of class: show which grades would change, and change nothing
##= TRUST=1 ## of class: compile without a sandbox; only if every submission is trusted
CLASS_NEEDS := $(call installed,class)
.PHONY: class class-drill class-term class-scale
class: $(NEEDS_GRADER) $(CLASS_NEEDS) $(TOOLCHAIN) tools ## grade a folder of submissions: a gradebook, a page for each student, a page of the class; SUBMISSIONS=folder
	@$(if $(SUBMISSIONS),,$(call complain,which submissions? make class SUBMISSIONS=folder,2);) \
	$(GRADER) class $(call option,out,OUTPUT) $(call option,course,COURSE) $(call option,engine,ENGINE) \
	    $(foreach word,$(SLURM),--slurm=$(call quoted,$(word))) $(call option,jobs,JOBS) $(if $(TRUST),--trust) \
	    $(call option,device,DEVICE) $(if $(FRESH),--fresh) $(call option,student,STUDENT) $(call option,only,ONLY) $(if $(WHAT_IF),--what-if) $(AS_JSON) -- $(call quoted,$(SUBMISSIONS)) $(call words_of,$(CH))

##@ author: Tests and checks
##= STUDENTS=20 ## of class-drill: the size of the class; 200 if not given
##= WEEKS=10 ## of class-term: how long the term is; STUDENTS=60 for the size of its class
##= KILLS=20 ## of class-drill: end the run this many times by SIGKILL, and resume it
class-drill: $(NEEDS_GRADER) $(CLASS_NEEDS) $(TOOLCHAIN) drivers ## grade a made-up class, a fifth of it hostile, and compare every verdict
	@$(PY) tests/class/drill.py $(call option,students,STUDENTS) $(call option,kills,KILLS) $(call option,jobs,JOBS)
class-term: $(NEEDS_GRADER) $(CLASS_NEEDS) drivers ## grade a made-up term week by week, and compare every grade with a second computation of the rules
	@$(PY) tests/class/term.py $(call option,students,STUDENTS) $(call option,weeks,WEEKS)
class-scale: $(NEEDS_GRADER) $(CLASS_NEEDS) ## grade 1,000 made-up submissions on a Slurm of two nodes here, of which one dies, and compare the gradebook
	@$(PY) tests/slurm/scale.py $(call option,students,STUDENTS)
