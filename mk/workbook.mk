# For people who change the workbook: tests, checks, and its generated parts. Included by the Makefile; not part of a
# handout.

##@ author: Tests and checks
##= ARGS="-k shuffle -x" ## of test: options of pytest; ARGS=--whole for every kernel that is otherwise tested by turns

.PHONY: test test-quick check skeletons readme locks

test: $(NEEDS_GRADER) $(DEVELOPMENT) $(SITE) $(NOTEBOOK) $(PLATFORMS) $(CLASS_NEEDS) $(TOOLCHAIN) $(call installed,clang) drivers ## run every test
	@$(SANITIZED) $(WITH_ARGS) -m pytest -n $(if $(SANITIZE),0,$(JOBS)) --dist worksteal
test-quick: $(NEEDS_GRADER) $(DEVELOPMENT) $(CLASS_NEEDS) $(TOOLCHAIN) drivers ## run the tests of two minutes, some for every folder (tests/quick.toml)
	@$(SANITIZED) $(WITH_ARGS) -m pytest --quick -n $(if $(SANITIZE),0,$(JOBS)) --dist worksteal
# Python itself is not built with sanitizers: to load the library it must start with ASan's runtime, in one process, and
# with libstdc++, or ASan fails when a Python package throws an exception.
SANITIZED = $(if $(SANITIZE),LD_PRELOAD="$$($(RUN_CC) -print-file-name=libasan.so) $$($(RUN_CC) -print-file-name=libstdc++.so.6)" ASAN_OPTIONS=detect_leaks=0 \
    WARPBOOK_EMULATOR_LIBRARY=$(call quoted,$(CURDIR)/$(EMULATOR_SHARED)))

##@ author: Generated parts
skeletons: $(NEEDS_GRADER) ## write the skeletons in chapters/ and the notebook again from solutions/
	@$(GRADER).authoring.skeletons
	@$(GRADER).authoring.notebook

readme: $(NEEDS_GRADER) drivers ## run the commands that README.md shows, and put their output into it
	@$(GRADER).authoring.readme

.PHONY: recording
recording: $(NEEDS_GRADER) $(RECORDING) $(TOOLCHAIN) drivers ## record make watch for README.md, in docs/assets/watch.svg
	@$(GRADER).authoring.recording

.PHONY: lessons pictures
lessons: $(NEEDS_GRADER) drivers ## put code, counts, records and the output of commands into the lessons and guides
	@$(WITH_ARGS) -m grader.authoring.lessons
pictures: $(NEEDS_GRADER) ## draw the pictures of the lessons again
	@$(PY) docs/pictures/draw.py

##@ author: Tests and checks
##= K=wrong/ch09/NAME ## of kernel, kernel-edit: which kernel; K=wrong/ch09 for all in a folder
##= RECORD=1 ## of kill-rate: write tests/kill_rate.csv; of clang-corpus: write tests/clang_verdicts.csv
##= BASE=right/ch09/plain ## of kernel-edit: the kernel to edit; the best one when not given
.PHONY: kill-rate clang-corpus kernel kernel-edit litmus hardware-truth
kill-rate: $(NEEDS_GRADER) $(TOOLCHAIN) tools ## count the wrong kernels of tests/wrong that are caught and the right ones of tests/right that pass; CH=ch04 for some
	@$(GRADER) kill-rate $(AS_JSON) $(if $(RECORD),--record) -- $(call words_of,$(CH))
clang-corpus: $(NEEDS_GRADER) $(TOOLCHAIN) $(call installed,clang) tools ## judge the same kernels with clang and compare the verdicts; FRESH=1 also those with a row in tests/clang_verdicts.csv
	@$(GRADER) clang-corpus $(AS_JSON) $(if $(RECORD),--record) $(if $(FRESH),--fresh) -- $(call words_of,$(CH))
kernel: $(NEEDS_GRADER) ## write a kernel of tests/wrong or tests/right in full to build/kernels; K=wrong/ch09/NAME
	@$(GRADER) kernel $(AS_JSON) -- $(call words_of,$(K))
kernel-edit: $(NEEDS_GRADER) ## store a kernel of tests/wrong or tests/right as an edit of another; K=wrong/ch09/NAME
	@$(GRADER) kernel-edit $(AS_JSON) $(call option,base,BASE) -- $(call words_of,$(K))
litmus: $(NEEDS_GRADER) $(DEVELOPMENT) tools ## run the litmus tests of the memory model under 100,000 weak schedules each: minutes
	@WARPBOOK_LITMUS_SCHEDULES=100000 $(PY) -m pytest -q tests/test_weak_memory.py -k test_litmus
##@ author: Measurements
hardware-truth: $(NEEDS_GRADER) ## on a GPU with ncu: record what it counts for every pattern in build/hardware_truth
	@$(PY) tests/hardware_truth/record.py --missing --out $(B)/hardware_truth

##@ author: Generated parts
##= KEEP=1 ## of locks: keep the locked versions that pyproject.toml allows
locks: ## resolve the packages of pyproject.toml again into requirements/
	@sh mk/lock.sh

# Every check runs even if an earlier one fails; a missing tool is a failure, and the message says how to get it.
##@ author: Tests and checks
CHECKS := check-format check-gcc check-clang check-tidy check-architecture check-python check-types check-skeletons check-style
.PHONY: $(CHECKS) objects tidy
check: $(NEEDS_GRADER) $(DEVELOPMENT) $(TOOLCHAIN) ## check formatting, lint, types, warnings of gcc and clang, layers, skeletons and style of prose
	@$(MAKE) -k $(CHECKS)
need = command -v $(1) >/dev/null || { echo "warpbook: $(1) is missing; on Debian or Ubuntu: apt-get install $(2)" >&2; exit 3; }
C_FILES := $(sort $(wildcard $(foreach depth,* */* */*/*,common/$(depth).[ch]) chapters/*/chapter.c tests/native/*.[ch] tests/hardware_truth/sanitizer/*.c))
check-format:
	$(call quiet,FORMAT,$(words $(C_FILES)) C files)
	$(Q)$(call need,clang-format,clang-format); clang-format --dry-run -Werror $(C_FILES)
check-gcc check-clang: check-%:
	@$(call need,$*,$*); $(MAKE) -k OUT=$(B)/check/$* CC=$* WERROR=1 objects
check-tidy: check-clang
	@$(call need,clang-tidy,clang-tidy); $(MAKE) -k OUT=$(B)/check/clang CC=clang WERROR=1 tidy
check-architecture: check-gcc
	$(call quiet,CHECK,every file uses its own layer and those below: docs/architecture.md)
	$(Q)$(PY) -m grader.authoring.architecture $(B)/check/gcc/obj
check-python:
	$(call quiet,RUFF,grader bench tests docs)
	$(Q)$(PY) -m ruff check --quiet grader bench tests docs mk && $(PY) -m ruff format --check --quiet --diff grader bench tests docs mk
check-types:
	$(call quiet,MYPY,grader bench)
	$(Q)$(PY) -m mypy --no-error-summary
check-style:
	$(call quiet,CHECK,prose keeps to docs/style.md)
	$(Q)$(GRADER).authoring.style
check-skeletons:
	$(call quiet,CHECK,skeletons and notebook in step with the solutions)
	$(Q)$(GRADER).authoring.skeletons --check && $(GRADER).authoring.notebook --check

objects: $(call objects_of,$(C_SOURCES) $(RUNTIME_FOUND))
tidy: $(patsubst %.c,$(OUT)/tidy/%.ok,$(C_SOURCES) $(RUNTIME_FOUND))
# The arithmetic handlers are straight lines made by macros in their hundreds: the path-sensitive analyzer finds
# no paths in them and takes minutes over it.
# The parameters of CUDA's functions have other names in its headers.
# The analyzer looks at up to 50,000 states of a function; the default, 225,000, takes five times as long and found no more.
TIDY_STATES := $(patsubst %,--extra-arg=%,-Xclang -analyzer-config -Xclang max-nodes=50000)
# It is still nine tenths of the time: in CI each commit has it for a sixth of the files, elsewhere all have it.
ANALYZED = $(eval ANALYZED := $$(shell printf '%s\n' $(C_SOURCES) $(RUNTIME_FOUND) | awk -v of="$$$${WARPBOOK_CI:+6}" \
    -v turn=$$$$((0x$$$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0) % 6)) '!of || NR % of == turn'))$(ANALYZED)
tidy_for = --checks='$(if $(filter-out common/emulator/alu/%,$(filter $(ANALYZED),$(1))),,-clang-analyzer-*$(,))$(if $(filter \
    common/runtime/%,$(1)),-readability-inconsistent-declaration-parameter-name$(,)-readability-non-const-parameter)'
# An object is built again when a header changes, so its time covers everything that its file includes.
$(OUT)/tidy/%.ok: %.c .clang-tidy $(OUT)/obj/%.o
	$(call quiet,TIDY,$<)
	$(Q)mkdir -p $(@D) && clang-tidy --quiet --warnings-as-errors='*' $(TIDY_STATES) $(call tidy_for,$<) $< -- -std=gnu17 -Icommon $(call flags_for,$<) 2>$@.log \
	    || { grep -v 'warnings generated' $@.log; exit 1; }
	@touch $@

.PHONY: release-check
release-check: $(NEEDS_GRADER) $(DEVELOPMENT) $(CLASS_NEEDS) $(TOOLCHAIN) drivers ## prove that a release could be made: versions, changelog, links, generated parts
	@$(GRADER).authoring.release
