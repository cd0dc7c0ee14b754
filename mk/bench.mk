# Speed and robustness of the emulator: `make bench-emulator` and `make fuzz`. Included by the Makefile.

##@ author: Measurements
##= NUMBA_PYTHON=python3 ## of bench-emulator: a Python that has numba
##= CH="ch01 ch02" ## of time-grade: the chapters; all if not given
# ---- Speed beside the peers ------------------------------------------------------------------------------------
.PHONY: bench-emulator
bench-emulator: $(NEEDS_GRADER) $(TOOLCHAIN) $(OUT)/bin/emulate $(OUT)/bin/compile ## time the emulator, Oclgrind, PoCL and numba, and write docs/emulator-speed.md
	@CC=$(call quoted,$(HOST_CC)) $(WITH_ARGS) -m grader bench-emulator $(AS_JSON) $(call option,numba-python,NUMBA_PYTHON)

# ---- What grading costs ----------------------------------------------------------------------------------------
.PHONY: time-grade
time-grade: $(NEEDS_GRADER) $(TOOLCHAIN) drivers ## measure what grading all solutions costs, or those of CH: time, CPU and memory, cold and with nothing changed
	@$(GRADER) time-grade $(AS_JSON) -- $(call words_of,$(CH))

# ---- Fuzzing ---------------------------------------------------------------------------------------------------
##@ author: Tests and checks
##= SECONDS=600 ## of fuzz: how long; 60 if not given
# Two libFuzzer programs, of the parser and of the whole emulator, start from tests/fuzz/corpus and all past
# crashes. What they learn stays in build/fuzz/learned; what crashes or hangs is kept as build/fuzz/found-* and
# fails the target: fix it, and move the file to tests/fuzz/crashes.
SECONDS ?= 60
FUZZ := $(B)/fuzz
FUZZERS := $(FUZZ)/fuzz_parser $(FUZZ)/fuzz_emulator
FUZZ_CC := clang -g -O1 -std=gnu17 -Icommon -march=native -ffp-contract=off -fno-omit-frame-pointer \
    -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_OBJECTS := $(patsubst %.c,$(FUZZ)/obj/%.o,$(EMULATOR_SOURCES) $(SUPPORT_SOURCES))

$(FUZZ)/obj/%.o: %.c | fuzz-compiler
	$(call quiet,CC,$<)
	$(Q)mkdir -p $(@D) && $(FUZZ_CC) -fsanitize=fuzzer-no-link $(call flags_for,$<) -MMD -MP -c -o $@ $<
$(FUZZERS): $(FUZZ)/%: $(FUZZ)/obj/tests/fuzz/%.o $(FUZZ_OBJECTS)
	$(call quiet,LINK,$@)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer -o $@ $^ -lm
-include $(patsubst %.o,%.d,$(FUZZ_OBJECTS) $(FUZZERS:$(FUZZ)/%=$(FUZZ)/obj/tests/fuzz/%.o))

.PHONY: fuzz fuzz-compiler
fuzz-compiler:
	@command -v clang >/dev/null || { echo "warpbook: clang is missing; on Debian or Ubuntu: apt-get install clang" >&2; exit 3; }
	@test -e "$$(clang -print-file-name=libclang_rt.fuzzer-$$(uname -m).a)" || \
	    test -e "$$(clang -print-runtime-dir 2>/dev/null)/libclang_rt.fuzzer.a" || \
	    test -e "$$(clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer-$$(uname -m).a" || { \
	    echo "warpbook: clang has no libFuzzer; on Debian or Ubuntu: apt-get install libclang-rt-$$(clang -dumpversion | cut -d. -f1)-dev" >&2; exit 3; }

# In CI always the same texts, so that a commit answers for what it changes; elsewhere others each time.
FUZZ_OPTIONS = $${WARPBOOK_CI:+-seed=1} -max_total_time=$$(( ($(SECONDS) + 1) / 2 )) -timeout=10 -rss_limit_mb=2048 -max_len=16384 \
    -dict=tests/fuzz/ptx.dict -artifact_prefix=$(FUZZ)/found- -print_final_stats=1
fuzz: $(FUZZERS) ## look for texts that crash or hang the emulator
	@for fuzzer in $(FUZZERS); do \
	    learned=$(FUZZ)/learned/$$(basename $$fuzzer); log=$$fuzzer.log; mkdir -p $$learned; \
	    $$fuzzer $(FUZZ_OPTIONS) $$learned tests/fuzz/corpus $(wildcard tests/fuzz/crashes) >$$log 2>&1 || { \
	        grep -a -m 3 -E 'runtime error|ERROR:|SUMMARY' $$log >&2; tail -n 40 $$log >&2; \
	        echo "warpbook: $$fuzzer found something; the input is the newest of $(FUZZ)/found-*" >&2; exit 1; }; \
	    printf '  %-8s %s\n' FUZZ "$$(basename $$fuzzer): $$(sed -n 's/^stat::number_of_executed_units: *//p' $$log) texts, nothing found"; \
	done
