import Foundation
import Threads

/// A client that sends exactly the bytes it is given, in the pieces it is given, and reads what comes back.
///
/// On a thread of its own, because it blocks, which is how it waits.
package actor RawClient {
    package struct Answer: Sendable {
        package var status: Int
        package var headers: [String: String]
        package var body: String
    }

    package struct NoConnection: Error {}

    private let thread = DedicatedThread(name: "client")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
    private let socket: Int32
    private var received: [UInt8] = []

    package init(port: Int) throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw NoConnection() }
    }

    deinit { close(socket) }

    /// False if the server has closed the connection.
    @discardableResult
    package func send(_ bytes: some Sequence<UInt8> & Sendable) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// The next answer; nil if the server closes the connection instead.
    package func answer() -> Answer? {
        while true {
            if let answer = takeAnswer() { return answer }
            guard receive() else { return nil }
        }
    }

    /// Waits until the server closes the connection.
    package func waitForTheEnd() { while receive() {} }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = buffer.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return false }
        received += buffer[..<count]
        return true
    }

    private func takeAnswer() -> Answer? {
        let text = String(decoding: received, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let length = Int(headers["content-length"] ?? "0") ?? 0
        let head = text[..<end.upperBound].utf8.count
        guard received.count >= head + length else { return nil }
        let body = String(decoding: received[head..<(head + length)], as: UTF8.self)
        received.removeFirst(head + length)
        let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return Answer(status: status ?? 0, headers: headers, body: body)
    }
}

extension RawClient {
    /// A whole request as Apple sends it, and its answer.
    package func post(
        _ body: some Sequence<UInt8> & Sendable, to path: String = "/v1/notifications", method: String = "POST",
        headers: [String] = ["Content-Type: application/json"]
    ) -> Answer? {
        let bytes = Array(body)
        let head = ["\(method) \(path) HTTP/1.1", "Host: test", "Content-Length: \(bytes.count)"] + headers
        send(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + bytes)
        return answer()
    }

    package func post(_ body: String, to path: String = "/v1/notifications", method: String = "POST") -> Answer? {
        post(Array(body.utf8), to: path, method: method)
    }
}
