// Fetches as the CUDA C++ Programming Guide defines them (Texture Fetching): addressing, the nearest texel,
// and linear filtering with weights of 8 fractional bits.
#include <math.h>
#include <string.h>

#include "emulator/alu/float_lanes.h"
#include "emulator/machine/initialised.h"
#include "emulator/machine/texture.h"

enum { FRACTION_BITS = 8, FRACTION = 1 << FRACTION_BITS, NORMALISED_BITS = 21, FAR = 1 << 20 };

// ---- Texels -----------------------------------------------------------------------------------------------

// Arrays lie in tiles: a sector is 16 bytes of each of two rows. In linear memory it is 32 bytes of one.
static uint64_t sector_of(const TextureView *v, uint64_t offset, uint64_t x, uint64_t y, uint64_t slice) {
    const EmulatorTexels *texels = &v->texture->texels;
    if (v->texture->is_linear || !texels->height) return (v->memory->base + offset) >> 5;
    const uint64_t across = (texels->width * (uint64_t)texel_bytes(texels) + 15) / 16;
    return (v->memory->base >> 5) + (slice * ((texel_rows(texels) + 1) / 2) + y / 2) * across +
           x * texel_bytes(texels) / 16;
}

uint64_t texel_offset(TextureView *v, uint64_t x, uint64_t y, uint64_t slice) {
    const EmulatorTexels *texels = &v->texture->texels;
    const uint64_t bytes = texel_bytes(texels);
    const uint64_t row = v->texture->pitch ? v->texture->pitch : texels->width * bytes;
    const uint64_t offset = v->offset + (slice * texel_rows(texels) + y) * row + x * bytes;
    if (v->traffic)
        v->traffic->sectors[v->traffic->count++] =
            sector_of(v, offset, x, y, slice) | (uint64_t)v->traffic->group << TRAFFIC_GROUP_SHIFT;
    if (!v->memory->all_initialised && !is_initialised(v->memory, offset, bytes)) v->is_undefined = true;
    return offset;
}

static float half_to_float(uint16_t half) {
    const unsigned exponent = half >> 10 & 31, fraction = half & 1023;
    const float sign = half >> 15 ? -1.0f : 1.0f;
    if (exponent == 31) return fraction ? bits_float(0x7fffffff) : sign * INFINITY;
    return sign *
           (exponent ? ldexpf((float)(fraction | 1024), (int)exponent - 25) : ldexpf((float)fraction, -24));
}

static bool is_float_texel(const EmulatorTexels *texels) { return texels->type >= TEXEL_F16; }

// What the sum of filtered texels is divided by: integers have 16 bits there.
static float most_of(const EmulatorTexels *texels) {
    return is_float_texel(texels) ? 1 : texels->type == TEXEL_S8 || texels->type == TEXEL_S16 ? 32767 : 65535;
}

// An integer as one of 16 bits: bytes have their upper bits again below.
static int wide(EmulatorTexelType type, int value) {
    if (type == TEXEL_U8) return value * 257;
    if (type == TEXEL_S16) return value < -32767 ? -32767 : value;
    if (type != TEXEL_S8) return value;
    const int magnitude = value < -127 ? 127
                          : value < 0  ? -value
                                       : value,
              twice = magnitude << 8 | magnitude << 1 | (magnitude - (value < 0)) >> 6;
    return value < 0 ? -twice : twice;
}

// The bits of one channel: a float, a fraction of 0 to 1 or -1 to 1, or an integer.
static uint32_t channel_bits(const EmulatorTexture *t, const unsigned char *at, bool is_filtered) {
    uint16_t half;
    uint32_t word;
    int32_t value = 0;
    float most = 0;
    memcpy(&half, at, t->texels.type == TEXEL_U8 || t->texels.type == TEXEL_S8 ? 1 : 2);
    switch (t->texels.type) {
    case TEXEL_U8: value = *at, most = 255; break;
    case TEXEL_S8: value = *at < 128 ? *at : *at - 256, most = 127; break;
    case TEXEL_U16: value = half, most = 65535; break;
    case TEXEL_S16: value = (int16_t)half, most = 32767; break;
    case TEXEL_F16: return float_bits(half_to_float(half));
    default: memcpy(&word, at, 4); return word;
    }
    if (!t->reads_normalised) return (uint32_t)value;
    if (is_filtered && t->texels.type == TEXEL_S8) return float_bits((float)(value < -127 ? -127 : value));
    if (is_filtered) return float_bits((float)wide(t->texels.type, value));
    const float fraction = (float)value / most;
    return float_bits(fraction < -1.0f ? -1.0f : fraction);
}

// The channel of coordinates that an address mode puts inside; -1: the border.
static int64_t address_in(EmulatorAddressMode mode, int64_t i, int64_t size) {
    switch (mode) {
    case ADDRESS_WRAP: return (i % size + size) % size;
    case ADDRESS_MIRROR: i = (i % (2 * size) + 2 * size) % (2 * size); return i < size ? i : 2 * size - 1 - i;
    case ADDRESS_BORDER: return i < 0 || i >= size ? -1 : i;
    default: return i < 0 ? 0 : i >= size ? size - 1 : i;
    }
}

static void read_texel(TextureView *v, const int64_t at[3], uint32_t layer, bool is_integer,
                       uint32_t channels[4]) {
    const EmulatorTexture *t = v->texture;
    const EmulatorTexels *texels = &t->texels;
    const int64_t size[3] = {texels->width, (int64_t)texel_rows(texels),
                             texels->is_layered || texels->is_cube ? 1 : (int64_t)texel_slices(texels)};
    const bool is_value_float = is_float_texel(texels) || t->reads_normalised;
    int64_t inside[3];
    bool is_border = false;
    for (int k = 0; k < 3; k++) {
        // Without normalised coordinates nothing wraps, and integers find zeros outside.
        EmulatorAddressMode mode = t->address_mode[k];
        if (!t->has_normalised_coordinates && mode != ADDRESS_BORDER) mode = ADDRESS_CLAMP;
        if (is_integer) mode = ADDRESS_BORDER;
        inside[k] = address_in(mode, at[k], size[k]);
        is_border |= inside[k] < 0;
    }
    if (is_border) {
        for (int c = 0; c < 4; c++) {
            const float border = is_integer ? 0 : t->border[c];
            channels[c] = !is_value_float ? (uint32_t)(int64_t)border
                                          : float_bits(v->is_filtered ? border * most_of(texels) : border);
        }
        return;
    }
    const uint64_t slice = texels->is_layered || texels->is_cube ? layer : (uint64_t)inside[2];
    const unsigned char *data =
        v->memory->data + texel_offset(v, (uint64_t)inside[0], (uint64_t)inside[1], slice);
    const unsigned bytes = texel_bytes(texels) / (unsigned)texels->channels;
    for (int c = 0; c < 4; c++)
        channels[c] = c < texels->channels ? channel_bits(t, data + (unsigned)c * bytes, v->is_filtered) : 0;
}

// ---- Places -----------------------------------------------------------------------------------------------

// A coordinate in texels with 8 fractional bits. A normalised one has 21 fractional bits, the rest is cut
// off, before it is multiplied by the size; where it wraps, so infinity counts as 0, as NaN does everywhere.
static int64_t fixed(const EmulatorTexture *t, int dimension, double x, int64_t size, bool rounds) {
    const EmulatorAddressMode mode = t->address_mode[dimension];
    const bool wraps = mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR, is_normalised = size != 0;
    const double scale = 1 << NORMALISED_BITS;
    if (is_normalised && wraps) x = isfinite(x) ? fmod(x, 2) : 0;
    if (x != x) x = 0;
    if (x < -FAR) return -((int64_t)FAR << FRACTION_BITS);
    if (x > FAR) return (int64_t)FAR << FRACTION_BITS;
    const int64_t place = (int64_t)floor(x * scale) * (is_normalised ? size : 1);
    const int shift = NORMALISED_BITS - FRACTION_BITS;
    return (place + (rounds ? 1 << (shift - 1) : 0)) >> shift;
}

// A direction becomes a face and a place on it, of 0 to 1.
static void place_on_face(TextureCoordinates *c) {
    const double x = c->at[0], y = c->at[1], z = c->at[2];
    const double ax = fabs(x), ay = fabs(y), az = fabs(z);
    double major, s, t;
    unsigned face;
    if (az >= ax && az >= ay)
        major = az, face = z < 0 ? 5 : 4, s = z < 0 ? -x : x, t = -y;
    else if (ay >= ax)
        major = ay, face = y < 0 ? 3 : 2, s = x, t = y < 0 ? -z : z;
    else
        major = ax, face = x < 0, s = x < 0 ? z : -z, t = -y;
    c->at[0] = (float)((float)(s / major) * 0.5f + 0.5f);
    c->at[1] = (float)((float)(t / major) * 0.5f + 0.5f);
    c->at[2] = 0;
    c->layer = c->layer * 6 + face;
}

// Where a fetch is: a fixed-point place in each dimension, and the layer inside the texture.
typedef struct {
    int dimensions;
    int64_t at[3];
    uint32_t layer;
} Place;

static Place place(const EmulatorTexture *t, const TextureCoordinates *given, bool rounds) {
    const EmulatorTexels *texels = &t->texels;
    TextureCoordinates c = *given;
    const uint32_t layers =
        texels->is_cube ? (uint32_t)texel_slices(texels) / 6 : (uint32_t)texel_slices(texels);
    if (!texels->is_layered) c.layer = 0;
    if (texels->is_layered && c.layer >= layers) c.layer = layers - 1;
    if (texels->is_cube) place_on_face(&c);
    const int64_t size[3] = {texels->width, (int64_t)texel_rows(texels), (int64_t)texel_slices(texels)};
    const bool is_volume = texels->depth && !texels->is_layered && !texels->is_cube;
    const bool is_normalised = (t->has_normalised_coordinates || texels->is_cube) && !c.is_integer;
    Place p = {.dimensions = !texels->height ? 1 : is_volume ? 3 : 2, .layer = c.layer};
    for (int k = 0; k < p.dimensions; k++)
        p.at[k] = c.is_integer ? (int64_t)c.at[k] * FRACTION
                               : fixed(t, k, c.at[k], is_normalised ? size[k] : 0, rounds);
    return p;
}

// The result of filtering has 16 bits, except of .f32.
static float filtered(const EmulatorTexels *texels, double sum) {
    if (texels->type == TEXEL_F32) return (float)sum;
    if (texels->type == TEXEL_S8) sum *= 32767.0 / 127;
    if (texels->type != TEXEL_F16) return (float)floor(sum + 0.5) / most_of(texels);
    int exponent;
    frexp(sum, &exponent);
    const double scale = ldexp(1, exponent < -13 ? 24 : 11 - exponent);
    return (float)(copysign(floor(fabs(sum) * scale + 0.5), sum) / scale); // halfway away from 0
}

static int product(int a, int b) { return (a * b + FRACTION / 2) / FRACTION; }

// The weights of the corners, of which bit k is set in the upper half of dimension k. They have 8 fractional
// bits too and always add up to 1. Of three dimensions x and z come first.
static void corner_weights(int dimensions, const int fraction[3], int weight[8]) {
    const int a = fraction[0], b = fraction[dimensions == 3 ? 2 : 1],
              both = dimensions > 1 ? product(a, b) : 0;
    const int plane[4] = {FRACTION - a - b + both, a - both, b - both, both};
    for (int i = 0; i < 4; i++) weight[i] = plane[i];
    for (int i = 0; i < 4 && dimensions == 3; i++) {
        const int corner = (i & 1) | (i & 2) << 1, upper = product(plane[i], fraction[1]);
        weight[corner] = plane[i] - upper;
        weight[corner | 2] = upper;
    }
}

void texture_fetch(TextureView *v, const TextureCoordinates *given, uint32_t channels[4]) {
    const EmulatorTexture *t = v->texture;
    const bool can_filter = is_float_texel(&t->texels) || t->reads_normalised;
    const bool is_filtered = t->is_filtered && !given->is_integer && can_filter;
    const Place p = place(t, given, is_filtered);
    v->is_filtered = is_filtered;
    int64_t at[3] = {0}, low[3] = {0};
    if (!is_filtered) {
        for (int k = 0; k < p.dimensions; k++) at[k] = p.at[k] >> FRACTION_BITS;
        read_texel(v, at, p.layer, given->is_integer, channels);
        return;
    }
    int fraction[3] = {0}, weight[8];
    for (int k = 0; k < p.dimensions; k++) {
        low[k] = (p.at[k] - FRACTION / 2) >> FRACTION_BITS;
        fraction[k] = (int)((p.at[k] - FRACTION / 2) & (FRACTION - 1));
    }
    corner_weights(p.dimensions, fraction, weight);
    double sum[4] = {0};
    for (int corner = 0; corner < 1 << p.dimensions; corner++) {
        if (!weight[corner]) continue;
        for (int k = 0; k < p.dimensions; k++) at[k] = low[k] + (corner >> k & 1);
        read_texel(v, at, p.layer, given->is_integer, channels);
        for (int k = 0; k < 4; k++) sum[k] += weight[corner] * (double)bits_float(channels[k]) / FRACTION;
    }
    // One dimension is two of one row, read at its upper edge: half of the result is what lies above the row.
    const bool is_at_edge =
        p.dimensions == 1 && !t->texels.is_layered && t->address_mode[1] == ADDRESS_BORDER;
    for (int k = 0; k < 4; k++) {
        if (is_at_edge)
            sum[k] = (sum[k] + (k < t->texels.channels ? t->border[k] * most_of(&t->texels) : 0)) / 2;
        channels[k] = float_bits(filtered(&t->texels, sum[k]));
    }
}

void texture_gather(TextureView *v, const TextureCoordinates *given, int channel, uint32_t channels[4]) {
    static const int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const Place p = place(v->texture, given, true);
    v->is_filtered = v->texture->reads_normalised;
    for (int i = 0; i < 4; i++) {
        uint32_t texel[4];
        const int64_t at[3] = {((p.at[0] - FRACTION / 2) >> FRACTION_BITS) + order[i][0],
                               ((p.at[1] - FRACTION / 2) >> FRACTION_BITS) + order[i][1], 0};
        read_texel(v, at, p.layer, false, texel);
        channels[i] = texel[channel];
        if (!v->is_filtered) continue;
        const int value = (int)bits_float(texel[channel]);
        const EmulatorTexels *texels = &v->texture->texels;
        channels[i] =
            float_bits((float)(texels->type == TEXEL_S8 ? wide(TEXEL_S8, value) : value) / most_of(texels));
    }
}
