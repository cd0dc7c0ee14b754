# The report. Included by the Makefile.

##@ Learning
##= OPEN=1 ## of report: show it in a browser
.PHONY: report
report: $(NEEDS_GRADER) ## a page of your own: the ladder, the roofline, an x-ray of every kernel; into build/report
	@$(GRADER) report $(AS_JSON) $(if $(OPEN),--open)
