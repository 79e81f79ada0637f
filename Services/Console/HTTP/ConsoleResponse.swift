import Chassis
import Hummingbird

/// The answer to a request.
struct ConsoleResponse: Sendable {
    var status = 200
    var headers = HTTPFields()
    var body: HTTPBody = .bytes([])

    static func html(_ text: String, status: Int = 200) -> ConsoleResponse {
        ConsoleResponse(
            status: status, headers: [.contentType: "text/html; charset=utf-8"], body: .bytes(Array(text.utf8)))
    }

    /// The answer to a form: a reload sends nothing again.
    static func redirect(to path: String) -> ConsoleResponse {
        ConsoleResponse(status: 303, headers: [.location: path])
    }

    /// A file to keep.
    static func download(_ text: String, type: String, as name: String) -> ConsoleResponse {
        ConsoleResponse(
            headers: [
                .contentType: "\(type); charset=utf-8", .contentDisposition: "attachment; filename=\"\(name)\"",
            ],
            body: .bytes(Array(text.utf8)))
    }
}
