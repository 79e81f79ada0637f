import Commands
import Foundation
import Operations

/// The bytes of a file in pieces, decompressed where the file is compressed by gzip, and without the byte order mark.
struct FilePieces {
    private static let size = 1 << 16

    let path: String

    /// - Throws: `CommandError` where the file cannot be read or is damaged, and what `body` throws.
    func read(_ body: (Data) throws -> Void) throws {
        var isFirst = true
        try readAll { piece in
            try body(isFirst ? piece.withoutByteOrderMark : piece)
            isFirst = false
        }
    }

    /// All of it as text.
    /// - Throws: as ``read(_:)``.
    func text() throws -> String {
        var content = Data()
        try read { content += $0 }
        return String(decoding: content, as: UTF8.self)
    }

    private func readAll(_ body: (Data) throws -> Void) throws {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CommandError("\(path.escaped) cannot be read: check the name and the file's permissions")
        }
        defer { try? file.close() }
        let first = try piece(of: file)
        guard first.starts(with: [0x1F, 0x8B]) else {
            var next = first
            while !next.isEmpty {
                try body(next)
                next = try piece(of: file)
            }
            return
        }
        try decompress(body)
    }

    private func piece(of file: FileHandle) throws -> Data {
        do { return try file.read(upToCount: Self.size) ?? Data() } catch {
            throw CommandError("\(path.escaped) cannot be read to its end: \(error.localizedDescription)")
        }
    }

    private func decompress(_ body: (Data) throws -> Void) throws {
        // Closed in other children of this process, which could hold it open.
        guard let output = popen("exec gzip --decompress --stdout < \(path.shellQuoted) 2> /dev/null", "re") else {
            throw unusable()
        }
        var status: Int32?
        defer { if status == nil { pclose(output) } }
        var buffer = [UInt8](repeating: 0, count: Self.size)
        while case let count = fread(&buffer, 1, buffer.count, output), count > 0 { try body(Data(buffer[..<count])) }
        status = pclose(output)
        guard status == 0 else { throw unusable() }
    }

    private func unusable() -> CommandError {
        CommandError(
            "\(path.escaped) is compressed and cannot be decompressed: it is damaged, or the program gzip is missing; try gzip --test"
        )
    }
}

extension Collection<UInt8> {
    /// The bytes without the mark with which spreadsheets and editors begin a file. Where files are put together it
    /// stands within.
    var withoutByteOrderMark: SubSequence { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...] }
}
