# A graded class for other tools, and Warpbook as their autograder. Included by the Makefile.

##@ teacher: Other tools
##= CLASS=graded ## of exports: the folder that make class wrote
##= FORMAT=canvas,moodle ## of exports: some of gradescope, autolab, classroom50, check50, junit, nbgrader; or canvas, moodle or blackboard, with ROSTER
##= OUTPUT=folder ## of exports: where to write; beside class.json if not given
##= ROSTER=file.csv ## of exports: what Canvas, Moodle or Blackboard exported; it is written again with the grades
##= ASSIGNMENT="Lab 1" ## of exports with ROSTER: the assignment that gets the totals
.PHONY: exports gradescope autolab
exports: $(NEEDS_GRADER) ## write a graded class for Canvas, Moodle, Blackboard, Gradescope, Autolab, JUnit and others; CLASS=folder
	@$(if $(CLASS),,$(call complain,which class? make exports CLASS=folder$(,) the one that make class wrote,2);) \
	$(GRADER) exports $(call option,format,FORMAT) $(call option,out,OUTPUT) $(call option,roster,ROSTER) \
	    $(call option,assignment,ASSIGNMENT) $(AS_JSON) -- $(call quoted,$(CLASS))

gradescope autolab: $(NEEDS_GRADER) $(TOOLCHAIN) tools
gradescope: ## build the autograder for Gradescope, build/gradescope/autograder.zip
	@$(GRADER) gradescope $(call option,out,OUTPUT) $(AS_JSON) -- $(call words_of,$(CH))
autolab: ## build the autograder for Autolab, autograde-Makefile and autograde.tar in build/autolab
	@$(GRADER) autolab $(call option,out,OUTPUT) $(AS_JSON) -- $(call words_of,$(CH))

# What those autograders run: SUBMISSION in FORMAT, to OUTPUT or standard output.
.PHONY: autograde autograde-setup autograde-ready
autograde autograde-setup autograde-ready: $(NEEDS_GRADER) $(CLASS_NEEDS) $(TOOLCHAIN)
autograde: ## [autograde SUBMISSION=folder FORMAT=check50] grade one submission in a platform's own container
	@$(GRADER) autograde --format=$(call quoted,$(or $(FORMAT),gradescope)) $(call option,out,OUTPUT) $(call option,metadata,METADATA) \
	    -- $(call quoted,$(SUBMISSION)) $(call words_of,$(CH))
autograde-setup: drivers
autograde-ready:
	@$(GRADER) autograde --ready -- '' $(call words_of,$(CH))
