# What needs an NVIDIA GPU, and what is checked against its records. Included by the Makefile.

# ---- The record that the time model is checked against ---------------------------------------------------------
# ARGS="--only ch07" and the like go to the program; ARGS=--dry-run compiles everything and needs no GPU.
##@ author: Measurements
##= CCCL=folder ## of bench: another release of CUB and thrust
.PHONY: record-gpu
record-gpu: $(NEEDS_GRADER) $(TOOLCHAIN) ## on a GPU: record times and counters of every kernel of bench/variants in bench/records
	@$(WITH_ARGS) -m bench.record

# ---- The time model beside that record --------------------------------------------------------------------------
.PHONY: model-report model-fit
model-report model-fit: $(NEEDS_GRADER) $(DEVELOPMENT) $(TOOLCHAIN) $(EMULATOR_SHARED)
model-report: ## write into docs/time-model.md how far the model is from the committed record; needs no GPU
	@$(PY) -m bench.model_report
model-fit: ## fit the constants of common/emulator/model/device.c to the committed record, then model-report
	@$(PY) -m bench.model_report --fit

# ---- The references beside their peers --------------------------------------------------------------------------
# What is measured beside them is what is installed; docs/benchmarks.md says what each peer needs. ARGS="--quick"
# or ARGS="--only rows" for less than the whole, CCCL=FOLDER for another release of CUB and thrust.
# The toolkit's CUB is measured too; a newer one, with sums in no guaranteed order, is fetched where that works.
BENCH := $(call installed,bench)
CCCL_FETCHED := $(B)/bench/cccl
.PHONY: bench bench-report
bench: $(NEEDS_GRADER) $(DEVELOPMENT) $(BENCH) $(TOOLCHAIN) $(OUT)/bin/compile ## on a GPU: measure the references, CUB, thrust, PyTorch and Triton, and write docs/benchmarks.md
	$(if $(CCCL),,@[ -d $(CCCL_FETCHED) ] || $(MAKE) $(CCCL_FETCHED) || echo "warpbook: without a newer CUB beside the toolkit's" >&2)
	@CCCL=$(call quoted,$(CCCL)) $(WITH_ARGS) -m bench.bench
bench-report: $(NEEDS_GRADER) $(DEVELOPMENT) ## write the tables and plots of docs/benchmarks.md from the committed record; needs no GPU
	@$(PY) -m bench.report
$(CCCL_FETCHED): requirements/peers.txt
	$(call quiet,PIP,$< into $@)
	$(Q)rm -rf $@ && $(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --retries 1 \
	    --require-hashes --target $@ -r $< || { rm -rf $@; exit 1; }

# ---- The emulator beside compute-sanitizer ----------------------------------------------------------------------
# build/cases/chNN runs one case of a chapter; tests/hardware_truth/README.md says what is recorded with it. ARGS=--prepare
# and ARGS=--collect do the parts that need no GPU.
CASE_SOURCE := tests/hardware_truth/sanitizer/case.c
define case_rule
$(OUT)/cases/$(1): $(call objects_of,$(CASE_SOURCE) $(call folder_of,$(1))/chapter.c) $(DRIVER_LIBRARY) $(EMULATOR_LIBRARY) $(SUPPORT_LIBRARY)
	$$(call quiet,LINK,$$@)
	$$(Q)mkdir -p $$(@D) && $$(LINK)
endef
$(foreach c,$(CHAPTERS),$(eval $(call case_rule,$(c))))
-include $(patsubst %.o,%.d,$(call objects_of,$(CASE_SOURCE)))
.PHONY: sanitizer-truth sanitizer-cases
sanitizer-cases: $(addprefix $(OUT)/cases/,$(CHAPTERS)) tools
sanitizer-truth: $(NEEDS_GRADER) $(TOOLCHAIN) drivers sanitizer-cases ## on a GPU: record what compute-sanitizer says about the kernels of tests/ that have no row yet
	@$(PY) tests/hardware_truth/sanitizer/record_sanitizer.py $(ARGS)
