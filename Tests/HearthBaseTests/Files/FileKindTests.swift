import HearthBase
import Testing

struct FileKindTests {
    @Test(arguments: [
        ("", FileKind.empty), ("version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1\n", .lfsPointer),
        ("<!DOCTYPE html><title>", .webPage), ("\u{FEFF}\n<html lang=en>", .webPage), ("<?xml version='1.0'?>", .xml),
        ("<!doctype note>", .xml), ("GGUF\u{3}", .gguf), ("tjgg\u{1}", .oldGGML), ("PK\u{3}\u{4}", .zip),
        ("BZh91AY", .bzip2), ("%PDF-1.7", .pdf), (" {\"a\": 1}", .json),
        ("\u{8}\0\0\0\0\0\0\0{\"a\":{}}", .safetensors),
        ("\u{2}\0\0\0\0\0\0\0{}", .safetensors),
        ("GGU", nil), ("version 1", nil), ("hello", nil), ("\u{8}\0\0\0\0\0\u{1}\0{\"a\"", nil),
    ])
    func textsAndMarks(_ text: String, _ kind: FileKind?) {
        #expect(FileKind(beginning: text.utf8) == kind)
    }

    @Test(arguments: [
        ([0x1F, 0x8B, 8], FileKind.gzip), ([0x28, 0xB5, 0x2F, 0xFD], .zstd), ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], .xz),
        ([0xFF, 0xD8, 0xFF, 0xE0], .picture), ([0x80, 0x02, 0x7D], .pytorch), ([0x1F], nil), ([0, 0, 0, 0], nil),
    ])
    func bytes(_ bytes: [UInt8], _ kind: FileKind?) {
        #expect(FileKind(beginning: bytes) == kind)
    }
}
