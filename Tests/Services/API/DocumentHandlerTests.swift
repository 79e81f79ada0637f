import Chassis
import Hummingbird
import Testing

@testable import API

@Suite struct DocumentHandlerTests {
    @Test func `Document and its page are in memory once, however many clients do not read them`() throws {
        let document = try APIDocument.embedded()
        let handler = DocumentHandler(document)
        let request = APIRequest(
            operation: try #require(document.operations.first), key: .none, path: [:], query: [:], headers: [:],
            body: nil, trace: Tracer(isOn: false, random: { 7 }).step(below: nil))
        for answer in [{ handler.get(request) }, { try handler.reference(request) }] as [() throws -> APIResponse] {
            let (first, second) = (try answer(), try answer())
            let storage = Self.storage(first)
            #expect(storage != nil && Self.storage(second) == storage)
        }
    }

    /// Where the body is; nil for one that is copied for its answer.
    private static func storage(_ answer: APIResponse) -> UnsafeRawPointer? {
        guard case .shared(let buffer) = answer.body else { return nil }
        return buffer.withUnsafeReadableBytes { $0.baseAddress }
    }
}
