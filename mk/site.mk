# Experiments, predictions, the guide's program and the site. Included by the Makefile.

##@ Learning
# docs/experiments/ch04/early_return.cu is try-ch04-early-return.
EXPERIMENTS := $(subst _,-,$(subst /,-,$(patsubst docs/experiments/%.cu,%,$(wildcard docs/experiments/ch*/*.cu))))
TRIES := $(sort $(EXPERIMENTS:%=try-%) $(filter try-%,$(MAKECMDGOALS)))
.PHONY: $(TRIES)
$(TRIES): try-%: $(NEEDS_GRADER) $(TOOLCHAIN) drivers ## [try-chNN-name] carry out an experiment of a lesson
	@$(GRADER) try $(AS_JSON) -- '$*'

.PHONY: site
site: $(NEEDS_GRADER) $(SITE) ## the lessons and guides as a site, into build/site
	@$(GRADER).authoring.site

##@ Learning
PREDICTS := $(call for_chapters,predict)
.PHONY: $(PREDICTS)
$(PREDICTS): predict-%: $(NEEDS_GRADER) ## [predict-chNN] say three numbers before the next run shows them
	@$(GRADER) predict $(AS_JSON) -- '$*'

# Portable: the driver translates it for the GPU it runs on. For one machine only, -arch=native.
.PHONY: own-program
own-program: $(TOOLCHAIN) ## docs/examples/sum_program.cu around your chapter 8, into build/own_program
	$(call quiet,NVCC,docs/examples/sum_program.cu)
	$(Q)mkdir -p $(B) && $(NVCC_FOUND) -std=c++17 -O3 -Icommon/include -gencode arch=compute_80,code=compute_80 \
	    $(if $(KERNELS),-DKERNELS='"$(abspath $(KERNELS))"') -o $(B)/own_program docs/examples/sum_program.cu
