import COpenSSL

/// A call to OpenSSL failed where it should not have: out of memory, a broken key file, a profile that cannot be issued.
///
/// Never used for received data: that is a `CertificateFault` or a `ChainFailure`.
public struct OpenSSLFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was attempted.
    public let operation: String
    /// The content of OpenSSL's error queue of this thread; empty if there is none.
    public let detail: String

    /// Takes the queue of this thread and empties it, so that the next failure does not report this one.
    package init(_ operation: String) {
        self.operation = operation
        var texts: [String] = []
        var buffer = [CChar](repeating: 0, count: 256)
        while case let code = ERR_get_error(), code != 0 {
            ERR_error_string_n(code, &buffer, buffer.count)
            texts.append(String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
        detail = texts.joined(separator: "; ")
    }

    /// What failed, and OpenSSL's own message.
    public var description: String { detail.isEmpty ? "\(operation) failed" : "\(operation) failed: \(detail)" }

    /// OpenSSL's functions return 1 for success.
    package static func check(_ result: Int32, _ operation: String) throws(OpenSSLFailure) {
        guard result == 1 else { throw OpenSSLFailure(operation) }
    }

    /// OpenSSL's constructors return nil for failure.
    package static func unwrap<Handle>(_ handle: Handle?, _ operation: String) throws(OpenSSLFailure) -> Handle {
        guard let handle else { throw OpenSSLFailure(operation) }
        return handle
    }
}
