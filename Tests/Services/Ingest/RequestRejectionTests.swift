import StrictJSON
import Testing

@testable import Ingest

@Suite struct RequestRejectionTests {
    static let all: [RequestRejection] = [
        .body(.empty), .body(.notJSON("a \"fault\"")), .body(.notAnObject), .body(.noSignedPayload),
        .body(.signedPayloadNotAString), .body(.notThreeSegments), .noSuchPath, .method, .contentType,
        .tooLarge(limit: 1), .tooSlow, .tooManyInFlight, .kafkaUnavailable,
    ]

    @Test(arguments: all)
    func `RequestRejection is a small JSON object that says what is wrong`(rejection: RequestRejection) throws {
        let root = try JSONDocument(rejection.json).root
        #expect(root["error"]?.string == rejection.name)
        #expect(root["message"]?.string == rejection.message)
    }

    @Test func `RequestRejection has unique names, because they are counted`() {
        #expect(Set(Self.all.map(\.name)).count == Self.all.count)
    }

    @Test func `RequestRejection is never 4xx for a notification that cannot be accepted now, so that Apple retries`() {
        #expect(RequestRejection.tooManyInFlight.status == 503)
        #expect(RequestRejection.kafkaUnavailable.status == 503)
    }
}
