import Contracts
import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@testable import API

/// Whatever is sent to whatever operation: the answer is a problem document below 500, and nothing is written.
struct BadInputTests {
    @Test func `Every operation refuses callers it does not know, and writes nothing`() async throws {
        try await Self.withCensus { api in
            let good = try await api.key()
            let wrong = ClientKeySecret(environment: .production, random: Array(repeating: 9, count: 32)).text
            let powerless = try await api.key(scopes: [])
            for operation in api.document.operations where operation.scope != nil {
                let path = DocumentedAnswers.path(operation)
                let body = operation.body == nil ? nil : Array(DocumentedAnswers.body(operation).utf8)
                for (key, problem) in [
                    (nil, "missing-key"), (wrong, "invalid-key"), (String(good.dropLast()), "invalid-key"),
                    (good + "A", "invalid-key"), (powerless, "missing-scope"), ("", "invalid-key"),
                ] {
                    let answer = try await api.send(operation.method, path, key: key, body: body)
                    #expect(answer.problem == problem, "\(operation.id)")
                }
            }
        }
    }

    @Test func `Every operation with a body refuses what is not as described, and writes nothing`() async throws {
        try await Self.withCensus { api in
            let key = try await api.key(bundleIds: [SampleState.app])
            for operation in api.document.operations where operation.body != nil {
                let good = DocumentedAnswers.body(operation)
                // Without its closing brace, ready for another member.
                let open = String(good.dropLast()) + (good == "{}" ? "" : ",")
                let deep = String(repeating: #"{"a":"#, count: 10_000) + "1" + String(repeating: "}", count: 10_000)
                for (body, problem) in [
                    ("", "malformed-json"), ("{", "malformed-json"), (good + "x", "malformed-json"),
                    ("[]", "invalid-request"), ("null", "invalid-request"), ("7", "invalid-request"),
                    (open + #""unknown":1}"#, "invalid-request"),
                    (open + #""a":"\u0000"}"#, "malformed-json"),
                    (open + "\"a\":\"\u{0}\"}", "malformed-json"),
                    (#"{"a":1,"a":2}"#, "malformed-json"), (deep, "malformed-json"),
                    (String(repeating: " ", count: operation.bodyLimit) + good, "body-too-large"),
                ] {
                    let answer = try await api.send(
                        operation.method, DocumentedAnswers.path(operation), key: key, json: body)
                    #expect(answer.problem == problem, "\(operation.id): \(body.prefix(40))")
                }
                let surrogate = try await api.send(
                    operation.method, DocumentedAnswers.path(operation), key: key, body: [0x7b, 0xff, 0x7d])
                #expect(surrogate.problem == "malformed-json", "\(operation.id)")
            }
        }
    }

    @Test func `Every parameter refuses what is not as described`() async throws {
        try await Self.withCensus { api in
            let key = try await api.key(bundleIds: [SampleState.app])
            for operation in api.document.operations {
                let path = DocumentedAnswers.path(operation)
                let body = operation.body == nil ? nil : Array(DocumentedAnswers.body(operation).utf8)
                for query in ["x=1", "=", "limit=1&limit=2", "%zz=1", "bundleId=%00", "bundleId=%ff"] {
                    let target = path + (path.contains("?") ? "&" : "?") + query
                    let answer = try await api.send(operation.method, target, key: key, body: body)
                    #expect(answer.status == 400 && answer.problem != nil, "\(operation.id) \(query)")
                }
                for parameter in operation.queryParameters where parameter.schema.kinds.contains(.integer) {
                    for value in ["", "-1", "x", "1.5", "99999999999999999999", "%20"] {
                        let target = path + (path.contains("?") ? "&" : "?") + "\(parameter.name)=\(value)"
                        let answer = try await api.send(operation.method, target, key: key, body: body)
                        #expect(answer.problem == "invalid-request", "\(operation.id) \(parameter.name)=\(value)")
                    }
                }
                for parameter in operation.pathParameters {
                    for value in ["%00", String(repeating: "a", count: 3000)] {
                        let target = operation.path.replacing("{\(parameter.name)}", with: value)
                            .replacing("{customerId}", with: "u")
                        let answer = try await api.send(operation.method, target, key: key, body: body)
                        #expect(answer.status == 400 && answer.problem != nil, "\(operation.id) \(value.prefix(4))")
                    }
                }
            }
        }
    }

    @Test func `RequestParser refuses what is not percent-encoded UTF-8`() throws {
        let document = try APIDocument.embedded()
        let operation = try #require(document.operations.first { $0.id == "getCustomer" })
        let parser = RequestParser(check: document.check)
        for value in ["%ff", "%", "%zz", "%c3", "%00"] {
            let path = #expect(throws: Problem.self, "\(value)") {
                try parser.path(["customerId": value], of: operation)
            }
            #expect(path?.kind == .malformedRequest)
            #expect(throws: Problem.self, "\(value)") { try parser.query("bundleId=\(value)", of: operation) }
        }
        #expect(try parser.path(["customerId": "%C3%BC%2F%25"], of: operation) == ["customerId": "ü/%"])
        #expect(try parser.query("bundleId=a+b", of: operation) == ["bundleId": "a b"])
    }

    @Test func `Path or method that does not exist is a problem too`() async throws {
        try await Self.withCensus { api in
            let key = try await api.key()
            for path in ["/", "/v1", "/v2/accounts", "/v1/accounts/x", "/v1/events/stream/more", "//", "/%2e%2e/etc"] {
                #expect(try await api.get(path, key: key).problem == "no-such-path", "\(path)")
            }
            let answer = try await api.send("PATCH", "/v1/events", key: key)
            #expect(answer.status == 405 && answer.headers["allow"] == "GET")
            #expect(answer.headers["access-control-allow-origin"] == nil)
            let asked = try await api.send("OPTIONS", "/v1/events", key: nil, headers: ["Origin": "https://a.example"])
            #expect(asked.status == 405 && asked.headers["access-control-allow-origin"] == nil)
        }
    }

    @Test func `Account token in another form is rejected with where and why`() async throws {
        try await RunningAPI.with { api in
            let answer = try await api.get("/v1/accounts/user-1/entitlements", key: try await api.key())
            #expect(answer.problem == "invalid-request")
            #expect(answer.json?["errors"]?.elements.first?["pointer"]?.string == "appAccountToken")
            #expect(answer.json?["retryable"]?.bool == false)
        }
    }

    /// Nothing may be written meanwhile.
    private static func withCensus(_ body: (RunningAPI) async throws -> Void) async throws {
        try await RunningAPI.with { api in
            try await body(api)
            let connection = TestDatabase.connection(api.database)
            for table in [
                "customer", "manual_grant", "api_idempotency", "account_claim", "purchase_account", "notification",
                "recovery_request",
                "operator_action", "entitlement_definition", "account_app", "customer_consent",
                "erased_account",
            ] {
                let rows = try await connection.execute(unsafeSQL: "select from \(table)")
                #expect(rows.affected == 0, "\(table)")
            }
            await connection.close()
        }
    }
}
