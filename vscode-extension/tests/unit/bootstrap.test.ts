// Finding the program, and judging its version.

import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { find, fits, misfit, versionOf } from "../../src/bootstrap.ts";

test("the setting counts before the bundled one, and that before the path", async () => {
  const dir = await mkdtemp(path.join(tmpdir(), "legwork-"));
  const program = path.join(dir, "legwork");
  const none = { setting: "", bundled: path.join(dir, "none"), path: "relative:/nowhere", home: dir };
  assert.equal((await find(none)).kind, "missing");
  await writeFile(program, "#!/bin/sh\necho legwork 9.8.7\n");
  assert.equal((await find({ ...none, path: dir })).kind, "missing", "it cannot be run");
  await chmod(program, 0o755);
  assert.deepEqual(await find({ ...none, path: `/nowhere:${dir}` }), { kind: "found", program });
  assert.deepEqual(await find({ ...none, setting: "~/legwork" }), { kind: "found", program });
  assert.equal((await find({ ...none, setting: "legwork", path: dir })).kind, "missing");
  assert.equal((await find({ ...none, setting: dir, path: dir })).kind, "missing");
  assert.match((await misfit(program, "0.1.0")) ?? "", /is version 9\.8\.7/u);
  assert.equal(await misfit(program, "9.8.0"), undefined);
  assert.match((await misfit("/bin/false", "0.1.0")) ?? "", /does not say a version/u);
  await rm(dir, { recursive: true });
});

test("versions", () => {
  assert.equal(versionOf("legwork 0.1.0\n"), "0.1.0");
  assert.equal(versionOf("other 0.1.0\n"), undefined);
  assert.ok(fits("0.1.7", "0.1.0") && !fits("0.2.0", "0.1.0"));
});
