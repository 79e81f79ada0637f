/// The lines of a file, read piece by piece. Pure.
struct SeparatedLines {
    private var line: [UInt8] = []
    private var number = 1

    /// The lines that are complete with these bytes, with their numbers from 1.
    /// - Throws: where a line is longer than any receipt.
    mutating func append(
        _ bytes: some Sequence<UInt8>
    ) throws(SeparatedValues.Fault) -> [(number: Int, line: [UInt8])] {
        var lines: [(number: Int, line: [UInt8])] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            lines.append((number, line))
            line = []
            number += 1
        }
        guard line.count <= SeparatedValues.longest else {
            throw SeparatedValues.Fault(
                line: number, reason: "the line is longer than \(SeparatedValues.longest >> 20) MiB")
        }
        return lines
    }

    /// The last line, where no line end follows it.
    mutating func finish() -> (number: Int, line: [UInt8])? { line.isEmpty ? nil : (number, line) }
}
