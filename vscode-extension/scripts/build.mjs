// Bundles the extension. The language client is a file of its own, read only when a server is started.
import { build } from "esbuild";
import { rm } from "node:fs/promises";

await rm("dist", { recursive: true, force: true });
await build({
  entryPoints: { main: "src/main.ts", client: "src/client.ts" },
  outdir: "dist",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode", "./client.js"],
  minify: true,
  keepNames: true,
  sourcemap: false,
  legalComments: "linked",
  logLevel: "warning",
});
