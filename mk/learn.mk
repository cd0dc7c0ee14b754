# What a learner types besides `make chNN && ./chNN`. Included by the Makefile.

##@ Learning
##= CH="ch01 ch02" ## the chapters, of grade, solutions and watch; all when none is named
##= STEP=2 ## which hint, of hint-chNN
##= FORCE=1 ## of show-chNN: before it is passed, which is recorded; of reset-chNN: without asking
##= DEVICE=emulator ## or gpu, of grade, solutions, leaderboard and watch; auto takes a GPU when one answers
##= GPU=L4 ## of grade, solutions, ladder, leaderboard and watch: the GPU that the model speaks of
##= FRESH=1 ## of grade, solutions and leaderboard: run even what has not changed
##= JSON=1 ## one JSON document instead of a page

AS_JSON = $(if $(JSON),--json)
# The C programs and Python agree on the locale: where it knows no more than ASCII, neither says more.
export PYTHONCOERCECLOCALE := 0

.PHONY: status
status: $(NEEDS_GRADER) ## where you are and what comes next; what plain `make` does
	@$(GRADER) status $(AS_JSON)

.PHONY: watch
watch: $(NEEDS_GRADER) $(TOOLCHAIN) ## judge a chapter whenever its kernel.cu is saved; CH=ch04 begins there
	@$(GRADER) watch $(if $(DEVICE),--device '$(DEVICE)') $(if $(GPU),--gpu '$(GPU)') -- $(firstword $(CH))

.PHONY: ladder
ladder: $(NEEDS_GRADER) ## how fast your chapters are, beside the references, CUB and the peak; GPU=L4 for one device
	@$(GRADER) ladder $(AS_JSON) $(if $(GPU),--gpu '$(GPU)') -- $(CH)

.PHONY: leaderboard
leaderboard: $(NEEDS_GRADER) $(TOOLCHAIN) ## your capstone beside CUB, torch, the reference and the roofline, size by size
	@$(GRADER) leaderboard $(AS_JSON) $(if $(DEVICE),--device '$(DEVICE)') $(if $(GPU),--gpu '$(GPU)') $(if $(FRESH),--fresh) -- $(CH)

$(CHAPTERS): ## [chNN] build one chapter: the program ./chNN and your kernel.cu
.PHONY: grade solutions
grade solutions: $(NEEDS_GRADER) $(TOOLCHAIN)
GRADE_OPTIONS = $(if $(DEVICE),--device '$(DEVICE)') $(if $(GPU),--gpu '$(GPU)') $(if $(FRESH),--fresh) $(AS_JSON) -- $(CH)
grade: ## build, run and record your kernels: all, or CH=ch04, or CH="ch01 ch02"
	@$(GRADER) grade $(GRADE_OPTIONS)
solutions: ## the same for the reference solutions
	@$(GRADER) solutions $(GRADE_OPTIONS)

# Every chapter's is named, so that a shell that completes make's targets knows them; and so is what was asked
# for, so that the grader can say which chapters there are.
for_chapters = $(sort $(CHAPTERS:%=$(1)-%) $(filter $(1)-%,$(MAKECMDGOALS)))
HINTS := $(call for_chapters,hint)
SHOWS := $(call for_chapters,show)
SKIPS := $(call for_chapters,skip)
RESUMES := $(call for_chapters,resume)
RESETS := $(call for_chapters,reset)
.PHONY: $(HINTS) $(SHOWS) $(SKIPS) $(RESUMES) $(RESETS)
$(HINTS): hint-%: $(NEEDS_GRADER) ## [hint-chNN] the next hint, of three, for what your last run showed
	@$(GRADER) hint $(AS_JSON) $(if $(STEP),--step $(STEP)) -- '$*'
$(SHOWS): show-%: $(NEEDS_GRADER) ## [show-chNN] the solution and why it is fast, once you have passed
	@$(GRADER) show $(AS_JSON) $(if $(FORCE),--force) -- '$*'
$(SKIPS): skip-%: $(NEEDS_GRADER) ## [skip-chNN] leave a chapter out for now
	@$(GRADER) skip $(AS_JSON) -- '$*'
$(RESUMES): resume-%: $(NEEDS_GRADER) ## [resume-chNN] take a chapter up, one that was skipped too
	@$(GRADER) resume $(AS_JSON) -- '$*'
$(RESETS): reset-%: $(NEEDS_GRADER) ## [reset-chNN] start a chapter afresh; your file is kept under build/kept/
	@$(GRADER) reset $(AS_JSON) $(if $(FORCE),--force) -- '$*'

# Typed without a chapter. They are no targets otherwise, so that nobody's shell offers them.
BARE := $(filter hint show skip resume reset predict try,$(MAKECMDGOALS))
.PHONY: $(BARE)
$(BARE):
	@echo 'warpbook: which chapter? Say make $@-$(or $(firstword $(CH)),$(firstword $(CHAPTERS)))$(if $(filter try,$@),-NAME; ./warpbook try lists them,$(if $(CH),,$(,) or another up to $(lastword $(CHAPTERS))))' >&2; exit 2

# Sourced, as `source <(make -s completion-bash)`, for ./warpbook; make's own targets shells complete by themselves.
COMPLETIONS := completion-bash completion-zsh completion-fish
.PHONY: $(COMPLETIONS)
$(COMPLETIONS): completion-%: $(NEEDS_GRADER) ## [completion-bash] what teaches bash to complete ./warpbook; completion-zsh, completion-fish
	@$(GRADER) completion $(AS_JSON) -- '$*'

.PHONY: submission
submission: $(NEEDS_GRADER) ## your kernels, and receipts of what passed, as build/submission.zip to hand in
	@$(GRADER) submission $(if $(OUTPUT),--out '$(OUTPUT)') $(AS_JSON) -- $(CH)
