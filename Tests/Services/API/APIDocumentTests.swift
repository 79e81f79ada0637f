import Testing

@testable import API

struct APIDocumentTests {
    @Test func `APIDocument embedded in the binary can be read`() throws {
        let document = try APIDocument.embedded()
        #expect(document.operations.count > 1)
    }
}
