# Whole CUDA programs without a GPU: docs/programs.md. Included by the Makefile.

##@ Learning
##= PROGRAM="prog.cu -O2 -- 64" ## of run-program, check-program and profile-program: files, options of nvcc, and arguments; of findings-program: files of findings, and options
.PHONY: run-program check-program profile-program findings-program
run-program check-program profile-program findings-program: $(NEEDS_GRADER) $(TOOLCHAIN)
run-program: ## compile and run a whole CUDA program, PROGRAM=prog.cu, without a GPU
	@$(GRADER) run $(PROGRAM_WORDS)
check-program: ## the same with all checks of its kernels and of its host code
	@$(GRADER) check $(PROGRAM_WORDS)
profile-program: ## the same with counters and a modelled time for each kernel
	@$(GRADER) profile $(PROGRAM_WORDS)
findings-program: ## show what checked programs have kept in files, or write it as SARIF or JUnit XML; PROGRAM="findings.json --sarif findings.sarif"
	@$(GRADER) findings $(PROGRAM_WORDS)
PROGRAM_WORDS = $(call words_of,$(PROGRAM))
