/// Base64 with the URL alphabet and without padding. Decoding accepts only the canonical spelling.
package enum Base64URL {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let invalid: UInt8 = 0xff
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// - Returns: nil where encoding the result would give other bytes.
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let tail = text.count % 4
        guard tail != 1 else { return nil }
        var isCanonical = true
        // Buffers instead of subscripts: this reads some 20 KB per notification, and bounds checks double the time.
        let bytes = text.withUnsafeBufferPointer { text in
            values.withUnsafeBufferPointer { values in
                [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 2) { bytes, count in
                    // Valid digits are below 64, so the upper bits of all together show an invalid one.
                    var seen: UInt8 = 0
                    var read = 0
                    while read + 4 <= text.count {
                        let (a, b) = (values[Int(text[read])], values[Int(text[read + 1])])
                        let (c, d) = (values[Int(text[read + 2])], values[Int(text[read + 3])])
                        seen |= a | b | c | d
                        bytes[count] = a << 2 | b >> 4
                        bytes[count + 1] = b << 4 | c >> 2
                        bytes[count + 2] = c << 6 | d
                        read += 4
                        count += 3
                    }
                    // Remaining bits other than zero would be lost.
                    if tail >= 2 {
                        let (a, b) = (values[Int(text[read])], values[Int(text[read + 1])])
                        let c = tail == 3 ? values[Int(text[read + 2])] : 0
                        seen |= a | b | c
                        bytes[count] = a << 2 | b >> 4
                        bytes[count + 1] = b << 4 | c >> 2
                        isCanonical = tail == 2 ? b & 0x0f == 0 : c & 0x03 == 0
                        count += tail - 1
                    }
                    isCanonical = isCanonical && seen < 64
                }
            }
        }
        return isCanonical ? bytes : nil
    }

    /// Appends the digits of `bytes`.
    package static func encode(_ bytes: ArraySlice<UInt8>, into text: inout [UInt8]) {
        let encoded = bytes.withUnsafeBufferPointer { bytes in
            digits.withUnsafeBufferPointer { digits in
                [UInt8](unsafeUninitializedCapacity: bytes.count / 3 * 4 + 4) { text, count in
                    var read = 0
                    while read + 3 <= bytes.count {
                        let (a, b, c) = (bytes[read], bytes[read + 1], bytes[read + 2])
                        text[count] = digits[Int(a >> 2)]
                        text[count + 1] = digits[Int((a << 4 | b >> 4) & 0x3f)]
                        text[count + 2] = digits[Int((b << 2 | c >> 6) & 0x3f)]
                        text[count + 3] = digits[Int(c & 0x3f)]
                        read += 3
                        count += 4
                    }
                    let tail = bytes.count - read
                    guard tail > 0 else { return }
                    let (a, b) = (bytes[read], tail == 2 ? bytes[read + 1] : 0)
                    text[count] = digits[Int(a >> 2)]
                    text[count + 1] = digits[Int((a << 4 | b >> 4) & 0x3f)]
                    if tail == 2 { text[count + 2] = digits[Int(b << 2 & 0x3f)] }
                    count += tail + 1
                }
            }
        }
        text += encoded
    }

    /// The length of the run of digits and dots at the start of `text`, and how many dots it holds.
    static func run(in text: ArraySlice<UInt8>) -> (length: Int, dots: Int) {
        text.withUnsafeBufferPointer { text in
            values.withUnsafeBufferPointer { values in
                var (length, dots) = (0, 0)
                while length < text.count {
                    if values[Int(text[length])] == invalid {
                        guard text[length] == UInt8(ascii: ".") else { break }
                        dots += 1
                    }
                    length += 1
                }
                return (length, dots)
            }
        }
    }
}
