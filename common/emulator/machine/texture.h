// Textures and surfaces of a device, and reading them. Internal to common/emulator.
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/texture.h"

// The handle of object i is TEXTURE_WINDOW + 16 * (i + 1).
typedef struct TextureObject {
    EmulatorTexture texture;
    bool in_use, is_surface;
} TextureObject;

// What one warp instruction reads or writes of textures, in sectors of 32 bytes. Lanes are served in groups,
// of 4 in a fetch with floating-point coordinates and else of 8: tests/hardware_truth/texture.
typedef struct {
    uint64_t sectors[WARP_SIZE * 8]; // with the group's number above; some more than once
    int count;
    uint32_t group, groups; // of the current lane; those with a lane, a bit each
} TextureTraffic;
enum { TRAFFIC_GROUP_SHIFT = 56 };

// A texture whose texels lie at `data`, for one lane.
typedef struct {
    const EmulatorTexture *texture;
    const Memory *memory;
    uint64_t offset; // of the first texel in the memory
    TextureTraffic *traffic;
    bool is_filtered;  // the texels are to be filtered or gathered
    bool is_undefined; // set where a texel was never written
} TextureView;

// The texture that a handle, or the address of a .texref or .surfref, stands for; its memory must hold all
// texels. NULL: there is none.
const TextureObject *texture_of(const Machine *machine, uint64_t handle, TextureView *view);

// The offset of the texel in the memory; its sector is added to the traffic.
uint64_t texel_offset(TextureView *view, uint64_t x, uint64_t y, uint64_t slice);

// Coordinates of a fetch: x, y and z (of a cube a direction), and a layer.
typedef struct {
    double at[3];
    uint32_t layer;
    bool is_integer;
} TextureCoordinates;

// The four channels as bits: of floats, or of integers of 32 bits.
void texture_fetch(TextureView *view, const TextureCoordinates *given, uint32_t channels[4]);
// One channel of the four texels around a place, counter-clockwise from the lower left: tld4.
void texture_gather(TextureView *view, const TextureCoordinates *given, int channel, uint32_t channels[4]);
