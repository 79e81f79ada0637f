import AppStore
import Chassis
import Foundation
import Signatures

/// The trusted roots and the configured apps, read from files.
package struct TrustSettings: Sendable {
    /// Apple's root and those of the files.
    package let trust: TrustStore
    /// The apps of the file of apps.
    package let apps: AppRegistry

    /// Reads the files.
    /// - Parameters:
    ///   - apps: the value of `STOREKEEPER_APPS_FILE`.
    ///   - roots: the values of `STOREKEEPER_ROOT_FILES`.
    /// - Throws: `ConfigurationProblems` with all problems of all files.
    package init(apps: String, roots: [String], developmentMode: Bool) throws(ConfigurationProblems) {
        var problems: [ConfigurationProblem] = []
        var trust = TrustStore.apple
        for file in roots {
            do {
                let roots = try Certificate.all(in: try Self.bytes(of: file))
                problems += roots.compactMap { Self.objection(to: $0, developmentMode: developmentMode) }
                    .map { .unusable(name: "STOREKEEPER_ROOT_FILES", reason: "names \(file): \($0)") }
                trust = trust.adding(roots: roots)
            } catch {
                problems.append(.unusable(name: "STOREKEEPER_ROOT_FILES", reason: "names \(file): \(error)"))
            }
        }
        self.trust = trust
        var registry = AppRegistry(apps: [])
        do {
            registry = try AppRegistry(appsFile: try Self.bytes(of: apps), developmentMode: developmentMode)
        } catch let fault as AppsFileFault {
            problems += fault.problems.map {
                .unusable(name: "STOREKEEPER_APPS_FILE", reason: "names \(apps): \($0)")
            }
        } catch {
            problems.append(.unusable(name: "STOREKEEPER_APPS_FILE", reason: "names \(apps): \(error)"))
        }
        self.apps = registry
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
    }

    /// Why a certificate cannot be a root here, or nil.
    private static func objection(to root: Certificate, developmentMode: Bool) -> String? {
        if root.isForDevelopment, !developmentMode {
            return
                "\(root.subject) is a development root, under which any client can sign free purchases; remove it, or "
                + "set STOREKEEPER_DEVELOPMENT_MODE=true outside production"
        }
        guard root.isAuthority else { return "\(root.subject) is not a certificate authority; name its root instead" }
        return nil
    }

    private static func bytes(of file: String) throws(UnreadableFile) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: file) else { throw UnreadableFile() }
        return Array(data)
    }
}

private struct UnreadableFile: Error, CustomStringConvertible {
    var description: String { "cannot be read; check the path and its permissions" }
}
