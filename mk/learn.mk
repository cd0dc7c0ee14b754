# What a learner types besides `make chNN && ./chNN`. Included by the Makefile.

##@ Learning
##= CH="ch01 ch02" ## of grade, solutions and watch: the chapters; all if not given
##= STEP=2 ## of hint-chNN: which hint
##= TODO=5 ## of hint-chNN: only what is about this TODO
##= FORCE=1 ## of show-chNN: show it before you have passed, which is recorded; of reset-chNN: do not ask
##= DEVICE=emulator ## of grade, solutions, leaderboard and watch: emulator, gpu, or auto, which uses a GPU if there is one
##= GPU=L4 ## of grade, solutions, ladder, leaderboard and watch: which GPU to model
##= FRESH=1 ## of grade, solutions and leaderboard: run even what has not changed
##= OPEN=1 ## of report: open it in a browser
##= OUTPUT=me.zip ## of submission: the archive to write
##= JSON=1 ## print one JSON document instead of a page

AS_JSON = $(if $(JSON),--json)
# The C programs and Python agree on the locale: if it is ASCII only, both print ASCII only.
export PYTHONCOERCECLOCALE := 0

# ---- Judging ------------------------------------------------------------------------------------------------
$(CHAPTERS): ## [chNN] build chapter NN: the program ./chNN, and your kernel.cu
.PHONY: grade solutions
grade solutions: $(NEEDS_GRADER) $(TOOLCHAIN)
GRADE_OPTIONS = $(call option,device,DEVICE) $(call option,gpu,GPU) $(if $(FRESH),--fresh) $(AS_JSON) -- $(call words_of,$(CH))
grade: ## build, run and record all your kernels, or those of CH=ch04 or CH="ch01 ch02"
	@$(GRADER) grade $(GRADE_OPTIONS)

.PHONY: watch
watch: $(NEEDS_GRADER) $(TOOLCHAIN) ## judge a kernel each time you save it; CH=ch04 begins there
	@$(GRADER) watch $(call option,device,DEVICE) $(call option,gpu,GPU) -- $(call words_of,$(firstword $(CH)))

.PHONY: status
status: $(NEEDS_GRADER) ## show where you are and what comes next, as plain `make` does
	@$(GRADER) status $(AS_JSON)

# ---- One chapter --------------------------------------------------------------------------------------------
# Every chapter's target is named, so that a shell that completes make's targets knows them; and so is what was
# asked for, so that the grader can say which chapters there are.
for_chapters = $(sort $(CHAPTERS:%=$(1)-%) $(filter $(1)-%,$(MAKECMDGOALS)))
HINTS := $(call for_chapters,hint)
SHOWS := $(call for_chapters,show)
SKIPS := $(call for_chapters,skip)
RESUMES := $(call for_chapters,resume)
RESETS := $(call for_chapters,reset)
PREDICTS := $(call for_chapters,predict)
.PHONY: $(HINTS) $(SHOWS) $(SKIPS) $(RESUMES) $(RESETS) $(PREDICTS)
$(HINTS): hint-%: $(NEEDS_GRADER) ## [hint-chNN] show the next of three hints, chosen by your last run
	@$(GRADER) hint $(AS_JSON) $(call option,step,STEP) $(call option,todo,TODO) -- '$*'
$(SHOWS): show-%: $(NEEDS_GRADER) ## [show-chNN] show the solution and why it is fast, once you have passed
	@$(GRADER) show $(AS_JSON) $(if $(FORCE),--force) -- '$*'
$(SKIPS): skip-%: $(NEEDS_GRADER) ## [skip-chNN] leave a chapter for later
	@$(GRADER) skip $(AS_JSON) -- '$*'
$(RESUMES): resume-%: $(NEEDS_GRADER) ## [resume-chNN] return to a chapter, even a skipped one
	@$(GRADER) resume $(AS_JSON) -- '$*'
$(RESETS): reset-%: $(NEEDS_GRADER) ## [reset-chNN] start a chapter again; your file is kept under build/kept/
	@$(GRADER) reset $(AS_JSON) $(if $(FORCE),--force) -- '$*'
$(PREDICTS): predict-%: $(NEEDS_GRADER) ## [predict-chNN] predict three numbers before the next run shows them
	@$(GRADER) predict $(AS_JSON) -- '$*'

# docs/experiments/ch04/early_return.cu is try-ch04-early-return.
EXPERIMENTS := $(subst _,-,$(subst /,-,$(patsubst docs/experiments/%.cu,%,$(wildcard docs/experiments/ch*/*.cu))))
TRIES := $(sort $(EXPERIMENTS:%=try-%) $(filter try-%,$(MAKECMDGOALS)))
.PHONY: $(TRIES)
$(TRIES): try-%: $(NEEDS_GRADER) $(TOOLCHAIN) drivers ## [try-chNN-name] run an experiment from a lesson
	@$(GRADER) try $(AS_JSON) -- '$*'

# Typed without a chapter. Otherwise they are not targets, so that no shell offers them.
BARE := $(filter hint show skip resume reset predict try,$(MAKECMDGOALS))
.PHONY: $(BARE)
$(BARE):
	@$(call complain,which chapter? Say make $@-$(or $(firstword $(CH)),$(firstword $(CHAPTERS)))$(if $(filter try,$@),-NAME; ./warpbook try lists them,$(if $(CH),,$(,) or another up to $(lastword $(CHAPTERS)))),2)

# ---- All chapters -------------------------------------------------------------------------------------------
.PHONY: ladder
ladder: $(NEEDS_GRADER) ## show how fast your chapters are, beside the references, CUB and the peak; GPU=L4 for one device
	@$(GRADER) ladder $(AS_JSON) $(call option,gpu,GPU) -- $(call words_of,$(CH))

.PHONY: leaderboard
leaderboard: $(NEEDS_GRADER) $(TOOLCHAIN) ## compare your capstone with CUB, torch, the reference and the roofline, size by size
	@$(GRADER) leaderboard $(AS_JSON) $(call option,device,DEVICE) $(call option,gpu,GPU) $(if $(FRESH),--fresh) -- $(call words_of,$(CH))

.PHONY: report
report: $(NEEDS_GRADER) ## write a page about all your kernels into build/report: ladder, roofline, every memory access
	@$(GRADER) report $(AS_JSON) $(if $(OPEN),--open)

solutions: ## grade the reference solutions in place of your kernels
	@$(GRADER) solutions $(GRADE_OPTIONS)

.PHONY: submission
submission: $(NEEDS_GRADER) ## pack your kernels and the receipts of what passed into build/submission.zip, to hand in
	@$(GRADER) submission $(call option,out,OUTPUT) $(AS_JSON) -- $(call words_of,$(CH))

# Sourced, as `source <(make -s completion-bash)`, for ./warpbook; shells complete make's own targets by themselves.
COMPLETIONS := completion-bash completion-zsh completion-fish
.PHONY: $(COMPLETIONS)
$(COMPLETIONS): completion-%: $(NEEDS_GRADER) ## [completion-bash] print the bash completion script of ./warpbook; completion-zsh and completion-fish likewise
	@$(GRADER) completion $(AS_JSON) -- '$*'
