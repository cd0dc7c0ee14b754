# `make help`, the manual, and `make help-TARGET`, one target of it; also as make help T=TARGET. Included by the Makefile.

HELP_FILES := mk/learn.mk $(sort Makefile $(filter-out mk/learn.mk,$(wildcard mk/*.mk)))
##@ The workbook itself
##= T=grade ## of help: one target alone
.PHONY: help
help: ## this manual; make help-grade tells of one target
	@awk $(if $(T),-v target='$(T)') -f mk/help.awk $(HELP_FILES)
HELPS := $(filter help-%,$(MAKECMDGOALS))
.PHONY: $(HELPS)
$(HELPS): help-%:
	@awk -v target='$*' -f mk/help.awk $(HELP_FILES)
