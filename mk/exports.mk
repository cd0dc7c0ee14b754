# A graded class for other tools, and Warpbook as their autograder. Included by the Makefile.

##@ Teaching
##= CLASS=graded ## of exports: the folder that make class wrote
##= FORMAT=canvas,moodle ## of exports: gradescope, autolab, classroom50, check50, junit, canvas, moodle, nbgrader; all
##= ROSTER=file.csv ## of exports: what Canvas or Moodle exported; comes back with the grades in it
##= ASSIGNMENT="Lab 1" ## of exports with ROSTER: the assignment that gets the totals
.PHONY: exports gradescope autolab
exports: $(NEEDS_GRADER) ## a graded class as Gradescope, Autolab, Canvas, Moodle, JUnit ... read it
	@$(if $(CLASS),,echo "warpbook: which class? make exports CLASS=folder, the one that make class wrote" >&2; exit 2;) \
	$(GRADER) exports $(if $(FORMAT),--format '$(FORMAT)') $(if $(OUTPUT),--out '$(OUTPUT)') $(if $(ROSTER),--roster '$(ROSTER)') \
	    $(if $(ASSIGNMENT),--assignment '$(ASSIGNMENT)') $(AS_JSON) -- '$(CLASS)'

gradescope autolab: $(NEEDS_GRADER) $(TOOLCHAIN) tools
gradescope: ## the autograder for Gradescope, build/gradescope/autograder.zip; CH="ch01 ch02" for some chapters
	@$(GRADER) gradescope $(if $(OUTPUT),--out '$(OUTPUT)') $(AS_JSON) -- $(CH)
autolab: ## the autograder for Autolab, autograde-Makefile and autograde.tar in build/autolab
	@$(GRADER) autolab $(if $(OUTPUT),--out '$(OUTPUT)') $(AS_JSON) -- $(CH)

# What those autograders run: SUBMISSION in FORMAT, to OUTPUT or standard output.
.PHONY: autograde autograde-setup autograde-ready
autograde autograde-setup autograde-ready: $(NEEDS_GRADER) $(CLASS_NEEDS) $(TOOLCHAIN)
autograde: ## [autograde SUBMISSION=folder FORMAT=check50] one submission, graded in a platform's own container
	@$(GRADER) autograde --format '$(or $(FORMAT),gradescope)' $(if $(OUTPUT),--out '$(OUTPUT)') $(if $(METADATA),--metadata '$(METADATA)') \
	    -- '$(SUBMISSION)' $(CH)
autograde-setup: drivers
autograde-ready:
	@$(GRADER) autograde --ready -- '' $(CH)
