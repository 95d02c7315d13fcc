/* Blocks of an .osm.pbf file. See blob.h.
 *
 *     length of header (4 bytes, big-endian) | BlobHeader {type, datasize} | Blob {raw or zlib}
 *
 * Invariants: nothing is read or allocated by a length that was not compared with the format's
 * limit and with what is left of the file; an unpacked block has exactly the size it promised. */
#include "roads/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "roads/wire.h"

enum { LENGTH_BYTES = 4, HEADER_MAX = 64 << 10, BLOB_MAX = 32 << 20, PEEK = 6 };

enum dpl_status dpl_blob_fail(struct blob_file *file, const char *what) {
    return dpl_fail(file->run, DPL_BAD_DATA,
                    "%s: block %zu, at byte %llu: %s (is the download complete? fetch the .osm.pbf "
                    "again)",
                    file->path, file->number, (unsigned long long)file->block_at, what);
}

static enum dpl_status read_at(struct blob_file *file, uint64_t offset, void *into, size_t length) {
    uint8_t *next = into;
    while (length > 0) {
        ssize_t got = pread(file->fd, next, length, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return dpl_fail_errno(file->run, DPL_SYSTEM, "%s: cannot read", file->path);
        if (got == 0) return dpl_blob_fail(file, "the file became shorter while it was read");
        next += got, offset += (uint64_t)got, length -= (size_t)got;
    }
    return DPL_OK;
}

/* ---- opening ---- */

/* People bring what they downloaded: the files that are often mistaken for this one. */
static enum dpl_status check_kind(struct blob_file *file) {
    uint8_t peek[PEEK] = {0};
    size_t have = file->size < PEEK ? (size_t)file->size : PEEK;
    DPL_TRY(read_at(file, 0, peek, have));
    size_t mark = have >= 3 && !memcmp(peek, "\xEF\xBB\xBF", 3) ? 3 : 0; // of UTF-8
    file->xml = have > mark && peek[mark] == '<';
    const char *kind = have == 0                      ? "it is empty"
                       : !memcmp(peek, "\x1F\x8B", 2) ? "this is packed by gzip"
                       : !memcmp(peek, "BZ", 2)       ? "this is packed by bzip2"
                       : !memcmp(peek, "PK", 2)       ? "this is a zip archive"
                       : peek[0] == '{'               ? "this is JSON"
                       : peek[0] != 0 || peek[1] != 0 ? "this is no .osm.pbf file"
                                                      : NULL;
    if (!kind || file->xml) return DPL_OK;
    return dpl_fail(file->run, DPL_BAD_DATA,
                    "%s: %s; roads are read from .osm.pbf and .osm (convert with: osmium cat %s -o "
                    "city.osm.pbf)",
                    file->path, kind, file->path);
}

enum dpl_status dpl_blob_open(struct dpl_run *run, const char *path, struct blob_file *file) {
    struct stat info;
    *file = (struct blob_file){.run = run, .path = path};
    file->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &info) != 0)
        return dpl_fail_errno(run, DPL_BAD_DATA, "%s: cannot be opened", path);
    if (!S_ISREG(info.st_mode))
        return dpl_fail(run, DPL_BAD_DATA, "%s: not a file (roads are read twice)", path);
    file->size = (uint64_t)info.st_size;
    return check_kind(file);
}

void dpl_blob_close(struct blob_file *file) {
    if (file->run && file->fd >= 0) close(file->fd);
    dpl_free(file->packed);
    dpl_free(file->room);
    *file = (struct blob_file){0};
}

void dpl_blob_rewind(struct blob_file *file) { file->offset = 0, file->number = 0; }

/* ---- one block ---- */

/* Reads `length` bytes at the file's offset into `packed` and moves on. */
static enum dpl_status take(struct blob_file *file, size_t length) {
    if (length > file->size - file->offset)
        return dpl_blob_fail(file, "it is said to be longer than the rest of the file");
    DPL_TRY(dpl_grow(file->run, &file->packed, &file->packed_capacity, length, 1));
    DPL_TRY(read_at(file, file->offset, file->packed, length));
    file->offset += length;
    return DPL_OK;
}

static enum dpl_status take_header(struct blob_file *file, char type[16], size_t *size) {
    uint8_t length[LENGTH_BYTES];
    DPL_TRY(take(file, LENGTH_BYTES));
    memcpy(length, file->packed, LENGTH_BYTES);
    uint32_t header = (uint32_t)length[0] << 24 | (uint32_t)length[1] << 16 |
                      (uint32_t)length[2] << 8 | length[3];
    if (header > HEADER_MAX) return dpl_blob_fail(file, "its header is longer than 64 KiB");
    DPL_TRY(take(file, header));
    struct wire w = wire_of(file->packed, header);
    uint64_t bytes = UINT64_MAX;
    for (struct wire_field f; wire_next(&w, &f);) {
        if (wire_is(&f, 1, WIRE_BYTES) && wire_left(&f.bytes) < 16)
            memcpy(type, f.bytes.at, wire_left(&f.bytes)), type[wire_left(&f.bytes)] = '\0';
        if (wire_is(&f, 3, WIRE_VARINT)) bytes = f.value;
    }
    if (w.bad || bytes == UINT64_MAX) return dpl_blob_fail(file, "its header is damaged");
    if (bytes > BLOB_MAX) return dpl_blob_fail(file, "it is said to be longer than 32 MiB");
    *size = (size_t)bytes;
    return DPL_OK;
}

static enum dpl_status unpack(struct blob_file *file, const struct wire *packed, uint64_t size) {
    if (size > BLOB_MAX) return dpl_blob_fail(file, "it is said to unpack to more than 32 MiB");
    // One byte more than promised: a block that unpacks to more is found out.
    DPL_TRY(dpl_grow(file->run, &file->room, &file->room_capacity, (size_t)size + 1, 1));
    uLongf length = (uLongf)size + 1;
    int result = uncompress(file->room, &length, packed->at, (uLong)wire_left(packed));
    if (result == Z_MEM_ERROR) return dpl_fail(file->run, DPL_SYSTEM, "out of memory");
    if (result != Z_OK || length != size)
        return dpl_blob_fail(file, "it does not unpack as promised");
    return DPL_OK;
}

static enum dpl_status open_block(struct blob_file *file, size_t packed_size, struct blob *blob) {
    enum { RAW = 1, RAW_SIZE = 2, ZLIB = 3 };
    struct wire w = wire_of(file->packed, packed_size), packed = {0}, raw = {0};
    uint64_t size = 0;
    bool other = false;
    for (struct wire_field f; wire_next(&w, &f);) {
        if (wire_is(&f, RAW, WIRE_BYTES))
            raw = f.bytes;
        else if (wire_is(&f, RAW_SIZE, WIRE_VARINT))
            size = f.value;
        else if (wire_is(&f, ZLIB, WIRE_BYTES))
            packed = f.bytes;
        else
            other = true;
    }
    if (w.bad) return dpl_blob_fail(file, "its lengths contradict each other");
    if (!packed.at && !raw.at && other)
        return dpl_fail(file->run, DPL_BAD_DATA,
                        "%s: block %zu is packed by something else than zlib (convert with: osmium "
                        "cat %s -o city.osm.pbf)",
                        file->path, file->number, file->path);
    if (!packed.at && !raw.at) return dpl_blob_fail(file, "there is nothing in it");
    if (packed.at) DPL_TRY(unpack(file, &packed, size));
    blob->bytes = packed.at ? file->room : raw.at;
    blob->length = packed.at ? (size_t)size : wire_left(&raw);
    return DPL_OK;
}

enum dpl_status dpl_blob_next(struct blob_file *file, struct blob *blob, bool *done) {
    for (;;) {
        *done = file->offset == file->size;
        if (*done) return DPL_OK;
        char type[16] = "";
        size_t size = 0;
        file->number++;
        file->block_at = file->offset;
        DPL_TRY(dpl_check_interrupt(file->run));
        DPL_TRY(take_header(file, type, &size));
        blob->header = !strcmp(type, "OSMHeader");
        if (file->number == 1 && !blob->header)
            return dpl_blob_fail(file, "the file does not begin with an OSMHeader");
        DPL_TRY(take(file, size));
        // The format demands that blocks of unknown types are passed over.
        if (!blob->header && strcmp(type, "OSMData")) continue;
        return open_block(file, size, blob);
    }
}
