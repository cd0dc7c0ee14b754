# What a teacher hands out. Included by the Makefile; not part of a handout.

##@ teacher: Grading a class
##= TITLE="CUDA, spring" ## of handout: the course's name, for its README
##= OUTPUT=cuda.zip ## of handout: the archive to write, in place of one in build/
.PHONY: handout
handout: $(NEEDS_GRADER) $(TOOLCHAIN) tools ## write the workbook for students, without the solutions in any form
	@$(GRADER) handout $(call option,out,OUTPUT) $(call option,title,TITLE) $(AS_JSON) -- $(call words_of,$(CH))
