import AsyncHTTPClient
import Contracts
import Foundation
import Testing

@testable import SimulatedAppStore

@Suite struct FaultsTests {
    private static let path = "/simulator/faults"

    @Test func `Fault closes connections as often as requested`() async throws {
        try await SimulatorFixture.open { fixture async throws in
            #expect(try await fixture.send("POST", Self.path, #"{"fault":"close","count":2}"#).status == 200)
            for _ in 0..<2 { await #expect(throws: (any Error).self) { try await fixture.get("v1/transactions/1") } }
            #expect(try await fixture.get("v1/transactions/1").status == 404)
            #expect(try await fixture.send("GET", Self.path).json?["faults"]?.elements.count == 0)
        }
    }

    @Test func `Fault answers the requested error at the requested endpoint`() async throws {
        try await SimulatorFixture.open { fixture async throws in
            let fault = #"{"fault":"error","errorCode":5000001,"endpoint":"transactionInfo"}"#
            #expect(try await fixture.send("POST", Self.path, fault).status == 200)
            let struck = try await fixture.get("v1/transactions/1")
            #expect(struck.status == 500)
            #expect(struck.errorCode == 5_000_001)
            #expect(struck.errorMessage == "An unknown error occurred. Please try again.")
            #expect(try await fixture.get("v1/subscriptions/1").status == 404)
            #expect(try await fixture.send("DELETE", Self.path).status == 200)
            #expect(try await fixture.get("v1/transactions/1").status == 404)
        }
    }

    @Test func `Storm answers 429 to every request for its time, with Retry-After`() async throws {
        try await SimulatorFixture.open { fixture async throws in
            let storm = #"{"fault":"storm","milliseconds":2500,"seconds":60}"#
            #expect(try await fixture.send("POST", Self.path, storm).status == 200)
            for _ in 0..<3 {
                let struck = try await fixture.get("v1/transactions/1")
                #expect(struck.status == 429)
                #expect(struck.retryAfter == String(fixture.now.milliseconds + 2500))
            }
            fixture.move(by: 60)
            #expect(try await fixture.get("v1/transactions/1").status == 404)
        }
    }

    @Test func `Slow answer arrives after its delay`() async throws {
        try await SimulatorFixture.open { fixture async throws in
            fixture.faults.add(ServerFault(kind: .slow, remaining: 1, delay: .seconds(600)))
            await #expect(throws: HTTPClientError.deadlineExceeded) {
                try await fixture.send("GET", "/inApps/v1/transactions/1", withinMilliseconds: 2000)
            }
            #expect(try await fixture.get("v1/transactions/1").status == 404)
            fixture.faults.add(ServerFault(kind: .slow, delay: .milliseconds(1)))
            #expect(try await fixture.get("v1/transactions/1").status == 404)
        }
    }

    @Test func `Faults leave out unauthorized requests and the control endpoints`() async throws {
        try await SimulatorFixture.open { fixture async throws in
            fixture.faults.add(ServerFault(kind: .storm, remaining: 1))
            fixture.faults.add(ServerFault(kind: .close, endpoint: .lookUpOrder))
            #expect(try await fixture.ask("GET", "v1/transactions/1", authorization: "Bearer x").status == 401)
            #expect(try await fixture.send("GET", Self.path).json?["faults"]?.elements.count == 2)
        }
    }

    @Test(arguments: [
        "", "[]", #"{"fault":"rain"}"#, #"{"fault":"slow","milliseconds":-1}"#, #"{"fault":"error","errorCode":500}"#,
        #"{"fault":"close","times":1}"#, #"{"fault":"close","endpoint":"nowhere"}"#, #"{"count":1}"#,
    ])
    func `Invalid fault is rejected with the reason`(body: String) async throws {
        try await SimulatorFixture.open { fixture async throws in
            let answer = try await fixture.send("POST", Self.path, body)
            #expect(answer.status == 400)
            #expect(answer.json?["problem"]?.string?.isEmpty == false)
            #expect(fixture.faults.all(now: fixture.now).isEmpty)
        }
    }
}
