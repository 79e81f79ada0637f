/// The header of a PNG file: what it says about its picture before the picture itself.
struct PNGHeader: Equatable {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Pixels.
    var width: UInt32
    /// Pixels.
    var height: UInt32
    /// True for a picture with an alpha channel, or with a colour that stands for it.
    var hasTransparency: Bool

    /// - Parameter file: read up to the picture; checksums are not compared.
    /// - Returns: nil where it is no PNG.
    init?(_ file: [UInt8]) {
        guard file.starts(with: Self.signature), file.count >= 33 else { return nil }
        guard Self.number(file, 8) == 13, file[12..<16].elementsEqual("IHDR".utf8) else { return nil }
        width = Self.number(file, 16)
        height = Self.number(file, 20)
        hasTransparency = [4, 6].contains(file[25])
        // Length, type, content and checksum of each.
        var place = 33
        while file.count - place >= 12 {
            let type = file[place + 4..<place + 8]
            if type.elementsEqual("tRNS".utf8) { hasTransparency = true }
            if type.elementsEqual("IDAT".utf8) { break }
            let length = Int(Self.number(file, place))
            guard length <= file.count - place - 12 else { break }
            place += 12 + length
        }
    }

    private static func number(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
