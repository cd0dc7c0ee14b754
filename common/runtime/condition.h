// Conditions of graphs, which kernels set and nodes ask: conditional nodes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

// The handle of a new condition; 0 when memory ran out. It stays as long as the program runs.
cudaGraphConditionalHandle condition_new(unsigned value, bool is_assigned_at_launch);
bool condition_exists(cudaGraphConditionalHandle handle);
// False: there is none with that handle.
bool condition_set(cudaGraphConditionalHandle handle, unsigned value);
// Gives it the value that it starts every launch of its graph with, if it has one.
void condition_assign(cudaGraphConditionalHandle handle);
unsigned condition_value(cudaGraphConditionalHandle handle);
