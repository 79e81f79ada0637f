import Foundation

/// A message of the wire protocol, version 3: a type, a length and content.
struct PostgresFrame {
    var type: Character?
    var content: [UInt8]

    /// The prepared statement that a Bind names: behind the portal's name.
    var boundStatement: String {
        let parts = content.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : ""
    }

    static func read(from socket: Int32, hasType: Bool = true) -> PostgresFrame? {
        guard let head = bytes(hasType ? 5 : 4, from: socket) else { return nil }
        let length = head.suffix(4).reduce(0) { $0 << 8 | Int($1) }
        guard let content = bytes(length - 4, from: socket) else { return nil }
        return PostgresFrame(type: hasType ? Character(UnicodeScalar(head[0])) : nil, content: content)
    }

    private static func bytes(_ count: Int, from socket: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes {
                recv(socket, $0.baseAddress.map { $0 + filled }, count - filled, 0)
            }
            guard got > 0 else { return nil }
            filled += got
        }
        return bytes
    }

    func send(to socket: Int32) -> Bool {
        var bytes = type.map { [$0.asciiValue ?? 0] } ?? []
        bytes += withUnsafeBytes(of: UInt32(content.count + 4).bigEndian, Array.init)
        bytes += content
        var sent = 0
        while sent < bytes.count {
            let put = bytes.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard put > 0 else { return false }
            sent += put
        }
        return true
    }
}
