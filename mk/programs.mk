# Whole CUDA programs without a GPU: docs/programs.md. Included by the Makefile.

##@ Learning
##= PROGRAM="prog.cu -O2 -- 64" ## of run-program, check-program and profile-program: files, options of nvcc, and arguments
.PHONY: run-program check-program profile-program
run-program check-program profile-program: $(NEEDS_GRADER) $(TOOLCHAIN)
run-program: ## compile and run a whole CUDA program, PROGRAM=prog.cu, without a GPU
	@$(GRADER) run $(PROGRAM_WORDS)
check-program: ## the same with all checks of its kernels and of its host code
	@$(GRADER) check $(PROGRAM_WORDS)
profile-program: ## the same with counters and a modelled time for each kernel
	@$(GRADER) profile $(PROGRAM_WORDS)
PROGRAM_WORDS = $(call words_of,$(PROGRAM))
