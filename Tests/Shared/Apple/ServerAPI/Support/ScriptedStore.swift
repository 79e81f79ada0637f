import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A server on a real socket that answers as a test says, broken connections included. One request for each connection.
final class ScriptedStore: Sendable {
    /// What it received.
    struct Request: Sendable {
        let method: String
        let target: String
        let headers: [String: String]
        let body: [UInt8]

        var token: String { String((headers["authorization"] ?? "").dropFirst("Bearer ".count)) }
    }

    /// What it does about it.
    enum Reply: Sendable {
        /// A whole answer.
        case answer(Int, [UInt8] = [], headers: [(String, String)] = [])
        /// These bytes and the end of the connection.
        case bytes(String)
        /// Nothing until the caller gives up.
        case silence
        /// An answer's head, and then nothing until the caller gives up.
        case headOnly

        static func json(_ text: String, status: Int = 200) -> Reply { .answer(status, Array(text.utf8)) }
        static func code(_ code: Int, _ message: String = "", headers: [(String, String)] = []) -> Reply {
            .answer(
                code / 10_000, Array(#"{"errorCode":\#(code),"errorMessage":"\#(message)"}"#.utf8), headers: headers)
        }
    }

    private let listener: Int32
    private let script: @Sendable (Request, Int) -> Reply
    private let received = Mutex<[Request]>([])
    let url: String

    /// - Parameter script: Decides by the request and how many came before it.
    init(_ script: @escaping @Sendable (Request, Int) -> Reply) throws {
        self.script = script
        let (listener, port) = try Self.listening()
        self.listener = listener
        url = "http://127.0.0.1:\(port)"
        let thread = Thread { [self] in accept() }
        thread.start()
    }

    /// All requests so far.
    var requests: [Request] { received.withLock(\.self) }

    /// To be called at the end: the thread that accepts keeps the store alive.
    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// A closed address.
    static func closed() throws -> String {
        let (listener, port) = try listening()
        Glibc.close(listener)
        return "http://127.0.0.1:\(port)"
    }

    private static func listening() throws -> (Int32, UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    private func accept() {
        while case let connection = Glibc.accept(listener, nil, nil), connection >= 0 {
            Thread { [self] in
                serve(connection)
                Glibc.close(connection)
            }.start()
        }
        Glibc.close(listener)
    }

    private func serve(_ connection: Int32) {
        guard let request = read(connection) else { return }
        let number = received.withLock { received in
            received.append(request)
            return received.count - 1
        }
        switch script(request, number) {
        case .answer(let status, let body, let headers):
            var head = "HTTP/1.1 \(status) Scripted\r\ncontent-length: \(body.count)\r\nconnection: close\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            write(Array((head + "\r\n").utf8) + body, to: connection)
        case .bytes(let text): write(Array(text.utf8), to: connection)
        case .silence: drain(connection)
        case .headOnly:
            write(Array("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{".utf8), to: connection)
            drain(connection)
        }
    }

    private func read(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            if let request = Self.request(bytes) { return request }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer.prefix(count)
        }
    }

    /// Nil until it is complete.
    private static func request(_ bytes: [UInt8]) -> Request? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let first = lines[0].components(separatedBy: " ")
        guard first.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        let body = Array(text[end.upperBound...].utf8)
        guard body.count >= Int(headers["content-length"] ?? "0") ?? 0 else { return nil }
        return Request(method: first[0], target: first[1], headers: headers, body: body)
    }

    private func drain(_ connection: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1024)
        while recv(connection, &buffer, buffer.count, 0) > 0 {}
    }

    private func write(_ bytes: [UInt8], to connection: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
