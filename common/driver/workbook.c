#include "driver/workbook.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/system.h"

bool workbook_tree(char *path, size_t path_bytes, char *why, size_t why_bytes) {
    char here[PATH_MAX];
    if (!system_program_path(here, sizeof here)) {
        snprintf(why, why_bytes, "this program cannot find its own file (/proc is not mounted)");
        return false;
    }
    for (char *slash = strrchr(here, '/'); slash; slash = strrchr(here, '/')) {
        char marker[PATH_MAX + 64];
        *slash = '\0';
        snprintf(marker, sizeof marker, "%s/common/include/warpbook.cuh", here);
        if (access(marker, R_OK) != 0) continue;
        if (strlen(here) >= path_bytes) break;
        snprintf(path, path_bytes, "%s", here[0] ? here : "/");
        return true;
    }
    snprintf(
        why, why_bytes,
        "this program is not inside a workbook: no folder above it contains common/include/warpbook.cuh");
    return false;
}

bool workbook_root(const char *tree, char *path, size_t path_bytes, char *why, size_t why_bytes) {
    const char *named = getenv("WARPBOOK_WORKBOOK");
    char chapters[PATH_MAX];
    const bool is_named = named && *named;
    const int used = snprintf(path, path_bytes, "%s", is_named ? named : tree);
    snprintf(chapters, sizeof chapters, "%s/chapters", path);
    if (!is_named) return true;
    if (named[0] == '/' && (size_t)used < path_bytes && access(chapters, X_OK) == 0) return true;
    snprintf(why, why_bytes,
             "WARPBOOK_WORKBOOK is %.300s, which is not the absolute path of a folder with chapters/", named);
    return false;
}

bool workbook_chapter(const char *name, char *path, size_t path_bytes) {
    DIR *folder = opendir("chapters");
    bool found = false;
    size_t length = strlen(name);
    for (struct dirent *entry; folder && !found && (entry = readdir(folder)) != NULL;) {
        if (strncmp(entry->d_name, name, length) != 0 || entry->d_name[length] != '_') continue;
        int used = snprintf(path, path_bytes, "chapters/%s", entry->d_name);
        found = used > 0 && (size_t)used < path_bytes;
    }
    if (folder) closedir(folder);
    return found;
}

void workbook_absolute(const char *folder, const char *path, char *out, size_t out_bytes) {
    if (!path || path[0] == '/')
        snprintf(out, out_bytes, "%s", path ? path : "");
    else
        snprintf(out, out_bytes, "%s/%s", folder, path);
}
