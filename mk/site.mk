# The guide's program and the site. Included by the Makefile.

##@ Learning
.PHONY: site
site: $(NEEDS_GRADER) $(SITE) ## build the lessons and guides as a website, in build/site
	@$(GRADER).authoring.site

# Portable: the driver translates it for the GPU it runs on. For one machine only, -arch=native. nvcc passes its
# command line through shells, and so it sees another kernel under a name without odd characters.
.PHONY: own-program
own-program: $(TOOLCHAIN) ## build docs/examples/sum_program.cu around your chapter 8 kernel, as build/own_program
	$(call quiet,NVCC,docs/examples/sum_program.cu)
	$(Q)mkdir -p $(B) $(if $(KERNELS),&& cat <$(call quoted,$(KERNELS)) >$(B)/own_kernels.cu) && \
	    $(call quoted,$(NVCC_FOUND)) -std=c++17 -O3 -Icommon/include -I. -gencode arch=compute_80,code=compute_80 \
	    $(if $(KERNELS),-DKERNELS='"$(B)/own_kernels.cu"') -o $(B)/own_program docs/examples/sum_program.cu
