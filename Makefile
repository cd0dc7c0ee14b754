# Warpbook's front door. `make help` lists what can be typed; V=1 shows whole commands.
#
# Chapters are found by their folders: adding chapters/chNN_name and solutions/chNN_name touches nothing here.
# What the machine offers (compiler flags, nvcc, Python) is asked once by mk/configure.sh.

.DEFAULT_GOAL := status
.SUFFIXES:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory
SHELL := /bin/sh

# ---- What a person may set on the command line -------------------------------------------------------------
# What `make help` lists as variables; those of one target are beside it.
##= V=1 ## print whole commands
##= JOBS=4 ## how many jobs run at once; the number of cores if not given
##= CC=clang ## use another C compiler
##= COMPILER=clang ## compile kernels with nvcc or with clang; auto (if not given): nvcc if one works here, otherwise clang
##= PYTHON=python3.12 ## use another Python; with VENV= use that Python's own packages and install nothing
##@ author: Tests and checks
##= SANITIZE=1 ## build all C with ASan and UBSan, under build/sanitize/
##@ The workbook itself
# All of them are text: make expands nothing in them, and a shell gets each as one word (quoted) or as its words,
# whatever characters they hold. tests/test_make_text.py goes through all of them.
TEXTS := ARGS ASSIGNMENT BASE CC CCCL CFLAGS CH CLASS COMPILER COURSE CUDA_HOME DEVICE ENGINE FORCE FORMAT FRESH GPU JOBS JSON K \
    KEEP KERNELS KILLS LDFLAGS METADATA NUMBA_PYTHON NVCC ONLY OPEN OUTPUT PROGRAM PYTHON RECORD ROSTER SANITIZE SECONDS SLURM \
    STEP STUDENT STUDENTS SUBMISSION SUBMISSIONS T TARGET TITLE TODO TRUST V VENV WEEKS WERROR WHAT_IF
$(foreach name,$(TEXTS),$(if $(filter command environment,$(firstword $(origin $(name)))),\
    $(eval override $(name) := $$(value $(name)))$(eval export $(name))))
, := ,
hash := \#
space := $() $()
define newline


endef
export WARPBOOK_NEWLINE := $(newline)
quoted = '$(subst $(newline),'"$$WARPBOOK_NEWLINE"',$(subst ','\'',$(1)))'
words_of = $(foreach word,$(1),$(call quoted,$(word)))
option = $(if $($(2)),--$(1)=$(call quoted,$($(2))))
complain = printf '%s\n' $(call quoted,warpbook: $(1)) >&2; exit $(2)
# What cannot be part of a target's name, for make or for the shells that run its recipes.
odd = $(strip $(filter -% ~%,$(1)) $(foreach c,' " ` \ ; & | < > ( ) * ? [ ] { } ! ^ : = % $$ $(hash),$(findstring $(c),$(1))))
$(foreach goal,$(MAKECMDGOALS),$(if $(call odd,$(goal)),$(error warpbook: there is no target $(goal); make help lists them)))
not_digits = $(subst 0,,$(subst 1,,$(subst 2,,$(subst 3,,$(subst 4,,$(subst 5,,$(subst 6,,$(subst 7,,$(subst 8,,$(subst 9,,$(1)))))))))))
$(foreach name,JOBS SECONDS,$(if $(if $($(name)),$(or $(call not_digits,$($(name))),$(if $(subst 0,,$($(name))),,0))),\
    $(error warpbook: $(name) must be a number from 1$(,) not $($(name)))))
VENV ?= .venv
ifneq ($(if $(VENV),$(words $(VENV))$(call odd,$(VENV)),1),1)
$(error warpbook: the folder VENV=$(VENV) has a name that make cannot use; take one of letters$(,) digits$(,) _$(,) - and .)
endif
ifneq ($(filter-out auto nvcc clang,$(or $(COMPILER),auto))$(word 2,$(COMPILER)),)
$(error warpbook: COMPILER must be auto$(,) nvcc or clang$(,) not $(COMPILER))
endif
B := build
OUT := $(B)$(if $(SANITIZE),/sanitize)
ASKED_CC := $(if $(filter command environment override,$(firstword $(origin CC))),$(CC))

ifdef V
Q :=
quiet = @:
PIP_QUIET :=
else
Q := @
quiet = @printf '  %-8s %s\n' $(1) $(call quoted,$(2))
endif

# ---- What the machine offers -------------------------------------------------------------------------------
CONFIG := $(OUT)/config.mk
KEY := $(ASKED_CC)|$(NVCC)|$(COMPILER)|$(CUDA_HOME)|$(PYTHON)|$(VENV)|$(value PATH)
GOALS_WITHOUT_CONFIG := help help-% clean
ifneq ($(filter-out $(GOALS_WITHOUT_CONFIG),$(or $(MAKECMDGOALS),status)),)
-include $(CONFIG)
ifneq ($(filter 9,$(MAKE_RESTARTS)),)
$(error warpbook: make asks again and again what this machine offers; remove the folder $(OUT), and try again)
endif
# $(strip): GNU make 4.3 sometimes leaves the newline at the end of what it reads.
ifneq ($(strip $(KEY)),$(strip $(if $(wildcard $(CONFIG).key),$(file < $(CONFIG).key))))
$(CONFIG): FORCE
else ifneq ($(SYSTEM_NVCC),$(wildcard $(subst $(space),\$(space),$(SYSTEM_NVCC))))
$(CONFIG): FORCE
endif
$(CONFIG): mk/configure.sh
	@CC=$(call quoted,$(ASKED_CC)) NVCC=$(call quoted,$(NVCC)) CUDA_HOME=$(call quoted,$(CUDA_HOME)) \
	    PYTHON=$(call quoted,$(PYTHON)) VENV=$(call quoted,$(VENV)) KEY=$(call quoted,$(KEY)) sh mk/configure.sh $@
endif
ifeq ($(filter -j%,$(MAKEFLAGS))$(MAKELEVEL),0)
MAKEFLAGS += -j$(or $(JOBS),1)
endif

# ---- Sources ------------------------------------------------------------------------------------------------
CHAPTER_FOLDERS := $(patsubst %/chapter.c,%,$(sort $(wildcard chapters/ch[0-9][0-9]_*/chapter.c)))
# Those whose kernel.cu is a whole program: it is linked to the runtime library, and run by a tool.
PROGRAM_CHAPTERS := $(foreach f,$(CHAPTER_FOLDERS),$(if $(findstring .is_program = true,$(file < $(f)/chapter.c)),$(firstword $(subst _, ,$(notdir $(f))))))
CHAPTERS := $(sort $(foreach f,$(CHAPTER_FOLDERS),$(firstword $(subst _, ,$(notdir $(f))))))
folder_of = $(firstword $(filter chapters/$(1)_%,$(CHAPTER_FOLDERS)))
ifneq ($(words $(CHAPTERS)),$(words $(CHAPTER_FOLDERS)))
$(error two folders under chapters/ have the same number: $(CHAPTER_FOLDERS))
endif

sources_below = $(sort $(wildcard $(foreach depth,*.c */*.c */*/*.c,$(addsuffix /$(depth),$(1)))))
EMULATOR_SOURCES := $(filter-out common/emulator/emulate%,$(call sources_below,common/emulator))
SUPPORT_SOURCES := $(call sources_below,common/support)
DRIVER_SOURCES := $(filter-out %_main.c,$(call sources_below,common/gpu common/driver))
TOOL_SOURCES := $(wildcard common/emulator/emulate.c) $(filter %_main.c,$(call sources_below,common/driver))
TOOL_PARTS := $(wildcard common/emulator/emulate_*.c)
CHAPTER_SOURCES := $(addsuffix /chapter.c,$(CHAPTER_FOLDERS))
RUNTIME_SOURCES := $(call sources_below,common/runtime)
C_SOURCES := $(SUPPORT_SOURCES) $(EMULATOR_SOURCES) $(DRIVER_SOURCES) $(TOOL_SOURCES) $(TOOL_PARTS) $(CHAPTER_SOURCES)
objects_of = $(patsubst %.c,$(OUT)/obj/%.o,$(1))

SUPPORT_LIBRARY := $(OUT)/lib/libsupport.a
EMULATOR_LIBRARY := $(OUT)/lib/libemulator.a
EMULATOR_SHARED := $(OUT)/lib/libemulator.so
DRIVER_LIBRARY := $(OUT)/lib/libdriver.a
TOOLS := $(patsubst %_main,%,$(addprefix $(OUT)/bin/,$(notdir $(basename $(TOOL_SOURCES)))))
PROGRAMS := $(addprefix $(OUT)/programs/,$(CHAPTERS))

# ---- Python: a virtual environment from requirements/NAME.txt; VENV= uses PYTHON's own packages --------------
PYTHON_NOW := $(call quoted,$(BASE_PYTHON))
PY := $(if $(VENV),$(VENV)/bin/python,$(PYTHON_NOW))
installed = $(if $(VENV),$(VENV)/.installed-$(1))
RUNTIME := $(call installed,runtime)
DEVELOPMENT := $(call installed,dev)
SITE := $(call installed,site)
NOTEBOOK := $(call installed,notebook)
PLATFORMS := $(call installed,platforms)
RECORDING := $(call installed,recording)
# The compiler of kernels. Of the two that can be fetched, auto takes the one that is installed, or else clang; with
# NVIDIA's driver on the machine it takes nvcc, whose wheels have the header that the part for GPUs is compiled with.
FETCHED := $(or $(filter-out auto,$(COMPILER)),$(if $(HAS_NVIDIA_DRIVER)$(wildcard $(VENV)/.installed-nvcc),nvcc,clang))
NVIDIA_WHEELS := $(if $(SYSTEM_NVCC),,$(if $(filter nvcc,$(FETCHED)),$(call installed,nvcc)))
TOOLCHAIN := $(or $(NVIDIA_WHEELS),$(if $(filter clang,$(FETCHED)),$(if $(SYSTEM_CLANG)$(if $(filter clang,$(COMPILER)),,$(SYSTEM_NVCC)),,$(call installed,clang))))
ifneq ($(VENV),)
ifeq ($(wildcard $(PY)),) # gone, or a link to an interpreter that is gone
$(patsubst requirements/%.txt,$(VENV)/.installed-%,$(wildcard requirements/*.txt)): FORCE
endif
$(VENV)/.installed-%: requirements/%.txt mk/environment.py | $(CONFIG) $(if $(BASE_PYTHON),,no-python)
	$(call quiet,PIP,$< into $(VENV))
	$(Q)$(PYTHON_NOW) mk/environment.py $(if $(V),--verbose) $(VENV) $< $@
endif
.PHONY: no-python
no-python:
	@$(call complain,no Python 3.11 or newer $(if $(PYTHON),called $(PYTHON),(python3$(,) python3.11 to python3.14)). On Debian or Ubuntu: apt-get install python3 python3-venv,3)

# ---- Flags --------------------------------------------------------------------------------------------------
RUN_CC := $(call words_of,$(HOST_CC))
RUN_CFLAGS := $(call words_of,$(CFLAGS))
# A learner does not need warnings; `make check` shows those of gcc, which depend on its optimiser, and of clang, which do not.
WARNINGS := $(if $(WERROR),-Wall -Wextra -Wno-psabi -Werror -Wconversion,-w)
OPTIMISE := $(if $(SANITIZE),-g -O1 -fno-omit-frame-pointer -fsanitize=address$(,)undefined -fno-sanitize-recover=undefined,$(if $(WERROR),$(if $(filter clang,$(CC)),-O0,-O2),$(CC_NATIVE)))
CFLAGS_ALL = -std=gnu17 -Icommon $(OPTIMISE) $(CC_FPCONTRACT) $(WARNINGS) -fPIC $(CC_INTERPOSITION)
# A learner waits for the first build, so each file gets the effort that its running time is worth: most for what runs
# for every instruction of every warp, and for loops over all elements; vectors for all loops over lanes; none for what
# runs once a run, such as the page. `perf record ./chNN` says where the time goes. (`make CFLAGS=-g` for a debugger.)
HOT := $(addprefix common/emulator/,emulator.c footprint.c touched.c model/sectors.c model/warp_clocks.c \
    $(addprefix alu/,compare.c float.c half.c integer.c matrix.c matrix_block.c matrix_float.c matrix_registers.c matrix_tile.c matrix_tile_double.c) \
    $(addprefix machine/,atomic.c exchange.c execute.c initialised.c memory.c resolve.c schedule.c sync.c undefined_step.c) \
    $(addprefix observers/,access_counts.c asynccheck.c footprint.c initcheck.c touched.c \
    race_granule.c race_interval.c race_order.c race_readers.c race_site.c weak_history.c weak_memory.c)) \
    $(addprefix common/driver/,build/unused_declarations.c judge/check.c judge/large_case.c plan/elements.c plan/expected.c plan/inputs.c program/outcomes.c run/cpu_baseline.c run/statistics.c)
LANES := $(addprefix common/emulator/,alu/% machine/% observers/% model/%)
ONCE := common/gpu/% $(addprefix common/emulator/program/,lowering/% lower.c opcodes.c program.c) \
    $(addprefix common/driver/,build/% diagnose/% judge/% listing/% main.c page/% program/% result/%)
# Without -fexpensive-optimizations gcc leaves out vzeroupper at -O1, and chapter 18, which calls exp2, takes twice as long.
LANES_EFFORT := -O1 -ftree-vectorize -fexpensive-optimizations
effort_for = $(if $(SANITIZE)$(WERROR),,$(if $(filter $(HOT),$(1)),-O3,$(if $(filter $(LANES),$(1)),$(LANES_EFFORT),$(if $(filter $(ONCE),$(1)),-O0,-O1))))
LDFLAGS_ALL = $(if $(SANITIZE),-fsanitize=address$(,)undefined) $(CC_OPENMP) $(call words_of,$(LDFLAGS))
LIBRARIES := -ldl -lm -lpthread
# Flags of one kind of file: the emulator never looks at errno or floating-point exceptions, but files that
# change the rounding mode must be compiled as if they did.
flags_for = $(if $(filter common/emulator/%,$(1)),$(if $(findstring rounding,$(1)),-frounding-math,-fno-math-errno -fno-trapping-math)) \
    $(if $(filter common/driver/%,$(1)),$(or $(CC_OPENMP),-Wno-unknown-pragmas)) \
    $(if $(findstring /nvidia,$(1))$(filter common/runtime/%,$(1)),$(if $(CUDA_INCLUDE),-isystem $(call quoted,$(CUDA_INCLUDE)))) \
    $(if $(filter common/runtime/%,$(1)),-I$(OUT)/cudart)

# cuda.h, for its types, from the toolkit or from NVIDIA's wheels.
WHEEL_ROOT = $(firstword $(wildcard $(VENV)/lib/python3*/site-packages/nvidia/cu13))
NVCC_FOUND = $(or $(SYSTEM_NVCC),$(addsuffix /bin/nvcc,$(WHEEL_ROOT)))
CUDA_INCLUDE = $(or $(SYSTEM_CUDA_INCLUDE),$(addsuffix /include,$(WHEEL_ROOT)))
RUNTIME_FOUND = $(if $(wildcard $(subst $(space),\$(space),$(CUDA_INCLUDE))/cuda_runtime_api.h),$(RUNTIME_SOURCES))

# What every object depends on: the compiler, by its version and not by where it was found, and its flags.
FLAGS_NOW := $(HOST_CC) $(HOST_CC_VERSION) $(CFLAGS_ALL) $(HOT) $(LANES) $(LANES_EFFORT) $(ONCE) $(CFLAGS) $(LDFLAGS_ALL) $(SYSTEM_CUDA_INCLUDE)
FLAGS := $(OUT)/flags
FLAGS_CHANGED :=
ifneq ($(strip $(FLAGS_NOW)),$(strip $(if $(wildcard $(FLAGS)),$(file < $(FLAGS)))))
FLAGS_CHANGED := yes
$(FLAGS): FORCE
endif
$(FLAGS): | $(CONFIG)
	@printf '%s\n' $(call quoted,$(strip $(FLAGS_NOW))) > $(NEW) && mv -f $(NEW) $@

# The list of sources, so that a library is built again when one of them is removed.
SOURCES_NOW := $(strip $(EMULATOR_SOURCES) $(DRIVER_SOURCES) $(SUPPORT_SOURCES))
ifneq ($(SOURCES_NOW),$(if $(wildcard $(OUT)/sources),$(strip $(file < $(OUT)/sources))))
$(OUT)/sources: FORCE
endif
$(OUT)/sources: | $(CONFIG)
	@printf '%s\n' $(call quoted,$(SOURCES_NOW)) > $(NEW) && mv -f $(NEW) $@

# ---- C: libraries, tools, one program a chapter --------------------------------------------------------------
# Every file is written under a name of the recipe's shell and then renamed: another make may be building the same,
# and ./chNN may be running.
NEW = $@.$$$$
HOST_COMPILER := $(if $(HOST_CC),,no-compiler)
AR_COMMAND = $(if $(findstring ziglang,$(HOST_CC)),$(call words_of,$(wordlist 1,3,$(HOST_CC))) )ar
.PHONY: no-compiler
no-compiler:
	@$(call complain,no working C compiler $(if $(ASKED_CC),called $(ASKED_CC),(cc$(,) gcc or clang)). On Debian or Ubuntu: apt-get install gcc libc6-dev,3)

# What has to be compiled, as far as is known beforehand: what is not there, and everything when the flags changed.
# A first build says how far it is, in about ten lines, and after that every file has its own. A recipe is expanded
# when it starts, so that STARTED counts.
GOAL_CHAPTERS := $(patsubst program-%,%,$(patsubst kernel-%,%,$(MAKECMDGOALS)))
NEEDED_SOURCES := $(if $(filter-out $(CHAPTERS),$(or $(GOAL_CHAPTERS),status)),$(C_SOURCES) $(RUNTIME_FOUND),\
    $(SUPPORT_SOURCES) $(EMULATOR_SOURCES) $(DRIVER_SOURCES) $(filter %/compile_main.c,$(TOOL_SOURCES)) \
    $(addsuffix /chapter.c,$(foreach c,$(sort $(GOAL_CHAPTERS)),$(call folder_of,$c))))
NEEDED_OBJECTS := $(call objects_of,$(NEEDED_SOURCES))
MISSING := $(filter-out $(if $(FLAGS_CHANGED),,$(wildcard $(NEEDED_OBJECTS))),$(NEEDED_OBJECTS))
MILESTONES := 1 %00 %20 %40 %60 %80 $(words $(MISSING))
DOING := $(if $(WERROR),compiling with $(HOST_CC),building the workbook's tools$(,) once)
ifeq ($(V)$(if $(word 30,$(MISSING)),,few),)
compiling = $(eval STARTED += 1)$(if $(filter $(MILESTONES),$(words $(STARTED))),$(info $()  $(DOING): $(words $(STARTED)) of $(words $(MISSING)) files))
else
compiling = $(call quiet,CC,$(1))
endif

$(OUT)/obj/%.o: %.c $(FLAGS) | $(HOST_COMPILER) $(NVIDIA_WHEELS)
	$(call compiling,$<)
	$(Q)[ -d $(@D) ] || mkdir -p $(@D); $(RUN_CC) $(CFLAGS_ALL) $(call effort_for,$<) $(call flags_for,$<) $(RUN_CFLAGS) -MMD -MP -MF $(NEW).d -MT $@ -c -o $(NEW) $< \
	    && mv -f $(NEW).d $(@:.o=.d) && mv -f $(NEW) $@

$(EMULATOR_LIBRARY): $(call objects_of,$(EMULATOR_SOURCES))
$(DRIVER_LIBRARY): $(call objects_of,$(DRIVER_SOURCES))
$(SUPPORT_LIBRARY): $(call objects_of,$(SUPPORT_SOURCES))
$(EMULATOR_LIBRARY) $(DRIVER_LIBRARY) $(SUPPORT_LIBRARY): $(OUT)/sources
	$(call quiet,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $(NEW) && $(AR_COMMAND) qcs $(NEW) $(filter %.o,$^) && mv -f $(NEW) $@

$(EMULATOR_SHARED): $(call objects_of,$(EMULATOR_SOURCES) $(SUPPORT_SOURCES))
	$(call quiet,LINK,$@)
	$(Q)mkdir -p $(@D) && $(RUN_CC) -shared -o $(NEW) $(filter %.o,$^) $(LDFLAGS_ALL) $(LIBRARIES) && mv -f $(NEW) $@

# The runtime for whole programs, in place of NVIDIA's library of that name. Its calls are declared in CUDA's headers:
# without them everything else can be built.
CUDART := $(OUT)/lib/cudart/libcudart.so
$(OUT)/cudart/missing.c: $(OUT)/cudart/errors.h ;
$(OUT)/cudart/errors.h: mk/cudart.sh $(FLAGS) | $(TOOLCHAIN)
	@$(if $(CUDA_INCLUDE),,$(call complain,no CUDA headers: whole programs need nvcc; see make doctor,3);) \
	    sh mk/cudart.sh $(call quoted,$(CUDA_INCLUDE)) $(OUT)/cudart
$(OUT)/cudart/missing.o: $(OUT)/cudart/missing.c
	$(Q)$(RUN_CC) -O1 -fPIC -c -o $@ $<
$(call objects_of,$(RUNTIME_SOURCES)): $(OUT)/cudart/errors.h
$(CUDART): $(call objects_of,$(RUNTIME_SOURCES) common/gpu/profiles.c) $(OUT)/cudart/missing.o $(EMULATOR_LIBRARY) $(SUPPORT_LIBRARY)
	$(call quiet,LINK,$@)
	$(Q)mkdir -p $(@D) && $(RUN_CC) -shared -Wl,-soname,libcudart.so.13 -Wl,--version-script=$(OUT)/cudart/symbols.map -o $(NEW) \
	    $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS_ALL) $(LIBRARIES) && mv -f $(NEW) $@ && ln -sf libcudart.so $(@D)/libcudart.so.13

LINK = $(RUN_CC) -o $(NEW) $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS_ALL) $(LIBRARIES) && mv -f $(NEW) $@
define tool_rule
$(OUT)/bin/$(patsubst %_main,%,$(basename $(notdir $(1)))): $(call objects_of,$(1) $(filter $(basename $(1))_%,$(TOOL_PARTS))) $(if $(filter common/emulator/%,$(1)),,$(DRIVER_LIBRARY)) $(EMULATOR_LIBRARY) $(SUPPORT_LIBRARY)
	$$(call quiet,LINK,$$@)
	$$(Q)mkdir -p $$(@D) && $$(LINK)
endef
$(foreach s,$(TOOL_SOURCES),$(eval $(call tool_rule,$(s))))

define chapter_rule
$(OUT)/programs/$(1): $(call objects_of,$(call folder_of,$(1))/chapter.c) $(DRIVER_LIBRARY) $(EMULATOR_LIBRARY) $(SUPPORT_LIBRARY)
	$$(call quiet,LINK,$$@)
	$$(Q)mkdir -p $$(@D) && $$(LINK)
endef
$(foreach c,$(CHAPTERS),$(eval $(call chapter_rule,$(c))))

-include $(patsubst %.o,%.d,$(call objects_of,$(C_SOURCES) $(RUNTIME_SOURCES)))


.PHONY: FORCE libs tools drivers
FORCE:
libs: $(EMULATOR_LIBRARY) $(EMULATOR_SHARED) $(DRIVER_LIBRARY) $(SUPPORT_LIBRARY)
tools: $(TOOLCHAIN) $(TOOLS)
# NVIDIA's disassembler, for ./chNN --sass.
.PHONY: nvdisasm
nvdisasm: $(call installed,nvdisasm)
drivers: $(addprefix program-,$(CHAPTERS)) $(TOOLS) libs $(if $(RUNTIME_FOUND),cudart)
.PHONY: cudart
cudart: $(CUDART)

# ---- Learning -----------------------------------------------------------------------------------------------
# The text after `## ` is what `make help` prints (mk/help.awk says how it is written). More: mk/learn.mk.
GRADER = $(PY) -m grader
WITH_ARGS = $(PY) mk/with_arguments.py
NEEDS_GRADER := $(RUNTIME) $(if $(VENV)$(BASE_PYTHON),,no-python)
export WARPBOOK_MAKE_VARIABLES = $(MAKEOVERRIDES)
export WARPBOOK_OUT = $(OUT)
export WARPBOOK_VENV = $(VENV)
ifneq ($(COMPILER),)
export WARPBOOK_COMPILER = $(COMPILER)
endif
ifneq ($(NVCC)$(filter-out .venv,$(VENV)),) # elsewhere than where ./chNN looks by itself
export WARPBOOK_NVCC = $(NVCC_FOUND)
endif
ifneq ($(and $(filter-out .venv,$(VENV)),$(wildcard $(VENV)/.installed-clang)),)
export WARPBOOK_CLANG = $(firstword $(wildcard $(VENV)/lib/python3*/site-packages/ziglang/zig))
endif

# The program is linked under build/ and appears as ./chNN; what it runs, the kernel, is compiled beside it.
# mv fails if another make has just moved its own link to the same program there.
COPY = $<.$$$$
MOVE_COPY = { mv -f $(COPY) $* 2>/dev/null || [ $* -ef $(COPY) ] || mv -f $(COPY) $*; }
.PHONY: $(CHAPTERS) $(addprefix program-,$(CHAPTERS)) $(addprefix kernel-,$(CHAPTERS))
$(CHAPTERS): %: program-% kernel-%
$(addprefix program-,$(CHAPTERS)): program-%: $(OUT)/programs/%
	$(if $(SANITIZE),,@[ $* -ef $< ] || { { ln -f $< $(COPY) 2>/dev/null || cp -f $< $(COPY); } && $(MOVE_COPY); status=$$?; rm -f $(COPY); exit $$status; })
$(addprefix kernel-,$(CHAPTERS)): kernel-%: $(OUT)/bin/compile | $(TOOLCHAIN)
	$(call quiet,KERNEL,$(call folder_of,$*)/kernel.cu)
	$(Q)$(OUT)/bin/compile $(call folder_of,$*)/kernel.cu $(B)/$* >/dev/null

$(addprefix program-,$(PROGRAM_CHAPTERS)) $(addprefix kernel-,$(PROGRAM_CHAPTERS)): $(OUT)/bin/run_program $(if $(RUNTIME_FOUND),$(CUDART))

UNKNOWN := $(filter-out $(CHAPTERS),$(filter ch%,$(filter-out check%,$(MAKECMDGOALS))))
.PHONY: $(UNKNOWN)
$(UNKNOWN):
	@$(call complain,there is no chapter $@; there are: $(or $(CHAPTERS),none yet),2)

# ---- The rest of the targets, by purpose ------------------------------------------------------------------------
# A handout for students holds some of these files only.
include $(sort $(wildcard mk/*.mk))

##@ The workbook itself
.PHONY: setup doctor clean
setup: $(NEEDS_GRADER) $(TOOLCHAIN) tools ## fetch and build now what other targets would on first use
doctor: $(if $(BASE_PYTHON),,no-python) ## check what this machine has, and print the one command that adds what is missing
	@$(if $(and $(VENV),$(wildcard $(PY))),$(PY),$(PYTHON_NOW)) -m grader doctor $(AS_JSON)


clean: ## remove what was built; your kernels, files kept by reset-chNN, history and .venv stay
	$(call quiet,CLEAN,build ch[0-9][0-9])
	$(Q)find $(B) -mindepth 1 -maxdepth 1 ! -name kept -exec rm -rf {} + 2>/dev/null; rm -f ch[0-9][0-9]
