# What a teacher hands out. Included by the Makefile; a handout itself comes without.

##@ Teaching
##= TITLE="CUDA, spring" ## of handout: the course's name, for its README
##= OUTPUT=cuda.zip ## of handout and submission: the archive to write, in place of one in build/
.PHONY: handout
handout: $(NEEDS_GRADER) $(TOOLCHAIN) tools ## the workbook for students, without the solutions' sources; CH="ch01 ch02" for some
	@$(GRADER) handout $(if $(OUTPUT),--out '$(OUTPUT)') $(if $(TITLE),--title '$(TITLE)') $(AS_JSON) -- $(CH)
