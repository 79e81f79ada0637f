/// One schema migration from `Migrations/`, embedded in the binary so that no file is needed at run time.
public struct Migration: Sendable, Equatable {
    /// The number at the start of its file name.
    public let version: Int32
    /// The rest of the file name.
    public let name: String
    let sql: [UInt8]

    init(_ version: Int32, _ name: String, _ sql: [UInt8]) {
        self.version = version
        self.name = name
        self.sql = sql
    }

    /// All migrations, in order. Those of the first release are a baseline: every object once, in the file of what it
    /// belongs to. A released migration is never edited; a later one corrects it.
    public static let all = [
        Migration(1, "pipeline", PackageResources._001_pipeline_sql),
        Migration(2, "ledger", PackageResources._002_ledger_sql),
        Migration(3, "state", PackageResources._003_state_sql),
        Migration(4, "customers", PackageResources._004_customers_sql),
        Migration(5, "coverage", PackageResources._005_coverage_sql),
        Migration(6, "recovery", PackageResources._006_recovery_sql),
        Migration(7, "insight", PackageResources._007_insight_sql),
        Migration(8, "api", PackageResources._008_api_sql),
        Migration(9, "console", PackageResources._009_console_sql),
        Migration(10, "webhooks", PackageResources._010_webhooks_sql),
        Migration(11, "refunds", PackageResources._011_refunds_sql),
        Migration(12, "figures", PackageResources._012_figures_sql),
        Migration(13, "months", PackageResources._013_months_sql),
        Migration(14, "comparisons", PackageResources._014_comparisons_sql),
        Migration(15, "erasure", PackageResources._015_erasure_sql),
        Migration(16, "sweeps", PackageResources._016_sweeps_sql),
    ]
}
