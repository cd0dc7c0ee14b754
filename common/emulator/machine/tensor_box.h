// The box of a tensor that a tensor copy moves (ISA, "Tensors"). Internal to common/emulator.
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/tensor_map.h"

enum { TENSOR_UNIT = 16 }; // bytes: rows of a box consist of these, and begin at multiples of them

struct TensorBox {
    TensorMap map;
    Memory *memory;               // that holds the tensor
    uint32_t element;             // bytes
    int64_t place[TENSOR_RANKS];  // of the box's first element in the tensor
    uint32_t count[TENSOR_RANKS]; // of elements that are copied
    uint32_t rows, row_bytes;
    uint32_t pitch; // bytes from row to row in shared memory
    uint32_t room;  // bytes in shared memory
    uint32_t bytes; // of all elements, inside the tensor or not
};

// A row's bytes from `begin` to `end` lie inside the tensor, from `offset` of its memory on.
typedef struct {
    uint32_t begin, end; // 0, 0: none
    uint64_t offset;
} TensorRow;

// The box that `lane` of a KIND_BULK with a rank names; false if the machine was stopped. Its memory is not
// looked up yet.
bool tensor_box(Machine *machine, Warp *warp, const Fragment *fragment, const Instruction *in, unsigned lane,
                TensorBox *box);
// Finds the memory that holds all of what is copied; false if the machine was stopped.
bool tensor_find(Machine *machine, Warp *warp, const Instruction *in, unsigned lane, TensorBox *box);
TensorRow tensor_row(const TensorBox *box, uint32_t row);
// The place in shared memory of the 16 bytes from `byte` on of a row, if the box begins at `base`.
uint64_t tensor_place(const TensorBox *box, uint64_t base, uint32_t row, uint32_t byte);
// 16 bytes as a load delivers them, from those of the tensor; `first` to `last` of them are inside it.
void tensor_unit(const TensorBox *box, unsigned char to[TENSOR_UNIT], const unsigned char *from,
                 uint32_t first, uint32_t last);
