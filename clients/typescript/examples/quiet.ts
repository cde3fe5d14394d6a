// Imported first: Mastra reports which features are used unless it is told not to.
process.env["MASTRA_TELEMETRY_DISABLED"] = "1";
