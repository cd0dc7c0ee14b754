# `make help`, `make help-teacher` and `make help-author`: every target, by reader. `make help-TARGET`, or
# make help T=TARGET, describes one target. Included by the Makefile.

HELP_FILES := mk/learn.mk $(wildcard mk/workbook.mk) $(sort Makefile $(filter-out mk/learn.mk mk/workbook.mk,$(wildcard mk/*.mk)))
HELP := awk -f mk/help.awk
##@ The workbook itself
##= T=grade ## of help: describe one target
.PHONY: help help-teacher help-author
help: ## print this page; make help-grade describes one target
	@TARGET=$(call quoted,$(T)) $(HELP) $(HELP_FILES)
help-teacher:
	@$(HELP) -v page=teacher $(HELP_FILES)
help-author:
	@$(HELP) -v page=author $(HELP_FILES)
HELPS := $(filter-out help-teacher help-author,$(filter help-%,$(MAKECMDGOALS)))
.PHONY: $(HELPS)
$(HELPS): help-%:
	@TARGET=$* $(HELP) $(HELP_FILES)
