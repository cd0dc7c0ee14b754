// The input and the output of a whole program (chapter 20): two vectors of floats come from a file, and a vector, its
// sum and a time go to another. Both files are named on the command line. Everything here runs on the host, and plain
// nvcc compiles it:
//
//     nvcc -I common/include chapters/ch20_program/kernel.cu -o program && ./program
//
// Without files the program gets a million small numbers, and checks what it computed.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Problem {
    int n;              // elements of each vector; may be 0
    const char *input;  // the two files; NULL without a command line
    const char *output;
};

// The number that element `i` of the vector `which` has if there is no file: small whole numbers.
inline float sample_value(int which, int i) { return (float)((i * 7 + which * 3) % 11 - 5); }

inline void end_without_file(const char *what, const char *file) {
    fprintf(stderr, "cannot %s %s\n", what, file);
    exit(2);
}

// What the command line asks for: ./program [INPUT OUTPUT].
inline Problem open_problem(int count, char **arguments) {
    Problem problem = {1000000, nullptr, nullptr};
    if (count == 1) return problem;
    if (count != 3) {
        fprintf(stderr, "usage: %s [INPUT OUTPUT]\n", arguments[0]);
        exit(2);
    }
    problem.input = arguments[1];
    problem.output = arguments[2];
    FILE *file = fopen(problem.input, "rb");
    if (!file || fread(&problem.n, sizeof problem.n, 1, file) != 1) end_without_file("read", problem.input);
    fclose(file);
    return problem;
}

// Fills two vectors of problem.n floats in host memory.
inline void read_inputs(const Problem &problem, float *a, float *b) {
    const size_t n = (size_t)problem.n;
    for (size_t i = 0; i < n && !problem.input; i++) {
        a[i] = sample_value(0, (int)i);
        b[i] = sample_value(1, (int)i);
    }
    if (!problem.input) return;
    FILE *file = fopen(problem.input, "rb");
    if (!file || fseek(file, sizeof problem.n, SEEK_SET) != 0 || fread(a, sizeof *a, n, file) != n ||
        fread(b, sizeof *b, n, file) != n)
        end_without_file("read", problem.input);
    fclose(file);
}

// Delivers the results: `c`, problem.n floats in host memory, their sum, and how long the GPU took.
inline void write_results(const Problem &problem, const float *c, float total, float milliseconds) {
    const size_t n = (size_t)problem.n;
    if (problem.output) {
        FILE *file = fopen(problem.output, "wb");
        if (!file || fwrite(&problem.n, sizeof problem.n, 1, file) != 1 ||
            fwrite(&total, sizeof total, 1, file) != 1 ||
            fwrite(&milliseconds, sizeof milliseconds, 1, file) != 1 || fwrite(c, sizeof *c, n, file) != n ||
            fclose(file) != 0)
            end_without_file("write", problem.output);
        return;
    }
    double sum = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        const float right = sample_value(0, (int)i) + sample_value(1, (int)i);
        wrong += c[i] != right;
        sum += right;
    }
    printf("n = %d: %zu elements wrong, sum %g (should be %g), %.3f ms\n", problem.n, wrong, total, sum,
           milliseconds);
}
