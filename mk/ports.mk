# Builds for other machines than this one, with the C compiler and C libraries of the package ziglang. Included by the
# Makefile; docs/platforms.md says what is run and what is only linked.

PORTS := aarch64-linux-musl x86_64-linux-musl aarch64-macos
ZIG = $(if $(VENV),$(VENV)/bin/python,$(BASE_PYTHON)) -m ziglang
##@ author: Tests and checks
.PHONY: ports port-built $(addprefix port-,$(PORTS))
ports: $(addprefix port-,$(PORTS)) ## build all programs for Linux with musl on x86-64 and aarch64, and for macOS, in build/ports
$(addprefix port-,$(PORTS)): port-%: $(call installed,clang)
	@$(MAKE) CC="$(ZIG) cc -target $*" CC_NATIVE= OUT=$(B)/ports/$* port-built
port-built: $(PROGRAMS) $(TOOLS)
