import Foundation

/// A blocking connection, as little of HTTP/1.1 as the measured servers send.
struct ClientSocket {
    struct Answer {
        var status: Int
        var tag: String?
    }

    struct Fault: Error { var what: String }

    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in.loopback(port)
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard isConnected == 0 else { throw Fault(what: "no connection to \(port): \(errno)") }
        sockaddr_in.sendAtOnce(descriptor)
    }

    func close() { _ = Glibc.close(descriptor) }

    func exchange(_ request: [UInt8]) throws -> Answer {
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw Fault(what: "the request was not sent: \(errno)")
        }
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { throw Fault(what: "the connection was closed") }
            received += chunk[0..<count]
            guard let end = received.endOfHead else { continue }
            let head = received[0..<end]
            let status = Int(String(decoding: head.dropFirst(9).prefix(3), as: UTF8.self)) ?? 0
            let length = status == 304 ? 0 : Int(Self.field("content-length", in: head) ?? "") ?? 0
            while received.count < end + length {
                let count = recv(descriptor, &chunk, chunk.count, 0)
                guard count > 0 else { throw Fault(what: "the connection was closed") }
                received += chunk[0..<count]
            }
            return Answer(status: status, tag: Self.field("etag", in: head))
        }
    }

    /// Compares bytes: parsing text would take more of the cores than some of the measured servers do.
    private static func field(_ name: StaticString, in head: ArraySlice<UInt8>) -> String? {
        let count = name.utf8CodeUnitCount
        return name.withUTF8Buffer { name in
            var start = head.startIndex
            while start + count < head.endIndex {
                let end = head[start...].firstIndex(of: 10) ?? head.endIndex
                // A letter differs from its capital in one bit, and so do no two characters of a name that is sent here.
                if head[start + count] == 58, zip(name, head[start...]).allSatisfy({ $0 | 32 == $1 | 32 }) {
                    return String(decoding: head[(start + count + 1)..<end], as: UTF8.self)
                        .trimmingCharacters(in: .whitespacesAndNewlines)
                }
                start = end + 1
            }
            return nil
        }
    }
}

extension [UInt8] {
    /// The index after the empty line.
    var endOfHead: Int? {
        guard count >= 4 else { return nil }
        for index in 3..<count
        where self[index] == 10 && self[index - 1] == 13 && self[index - 2] == 10 && self[index - 3] == 13 {
            return index + 1
        }
        return nil
    }
}

extension sockaddr_in {
    static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    static func sendAtOnce(_ descriptor: Int32) {
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}
