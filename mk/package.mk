# The workbook as a Python package: docs/package.md. Included by the Makefile.

##@ Learning
.PHONY: update editor
update: $(NEEDS_GRADER) ## bring new chapters and lessons by git; your kernels stay as they are
	@$(GRADER) update $(AS_JSON)
editor: $(NEEDS_GRADER) ## write settings for editors: .clangd, compile_commands.json, .vscode/tasks.json
	@$(GRADER) editor $(AS_JSON)

##@ The workbook itself
##= TARGET=aarch64-linux-musl ## of wheel: the machine and C library; x86_64-linux-gnu.2.28 if not given
WHEEL_TARGET := $(or $(TARGET),x86_64-linux-gnu.2.28)
WHEEL_OUT := $(B)/wheel/$(WHEEL_TARGET)
ZIG = $(PY) -m ziglang
ZIG_NEEDS := $(call installed,clang)
.PHONY: wheel sdist package-parts
package-parts: $(PROGRAMS) $(TOOLS) $(if $(RUNTIME_FOUND),$(CUDART))
wheel: $(NEEDS_GRADER) $(TOOLCHAIN) $(ZIG_NEEDS) ## write a Python package with all programs into build/dist; TARGET= names the machine
	@$(MAKE) CC=$(call quoted,$(ZIG) cc -target $(WHEEL_TARGET)) OUT=$(WHEEL_OUT) CC_NATIVE= LDFLAGS=-s package-parts
	@$(GRADER).authoring.wheel --target=$(call quoted,$(WHEEL_TARGET)) --programs=$(WHEEL_OUT) --out=$(B)/dist
sdist: $(NEEDS_GRADER) ## write the source distribution of the Python package into build/dist
	@$(GRADER).authoring.wheel --sdist --out=$(B)/dist
