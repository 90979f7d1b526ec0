import { describe, expect, it } from 'vitest';
import { isSoftwareRendered } from './drawers.ts';

describe('isSoftwareRendered (whether WebGL runs on the processor or is missing)', () => {
  it.each([
    'ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), SwiftShader driver)',
    'Google SwiftShader',
    'llvmpipe (LLVM 15.0.6, 256 bits)',
    'ANGLE (Microsoft, Microsoft Basic Render Driver Direct3D11 vs_5_0 ps_5_0, D3D11)',
    'Apple Software Renderer',
    null,
  ])('returns true for the WebGL renderer name "%s" (null without WebGL)', (renderer) => {
    expect(isSoftwareRendered(renderer)).toBe(true);
  });

  it.each([
    'ANGLE (Intel, Intel(R) UHD Graphics 630 Direct3D11 vs_5_0 ps_5_0, D3D11)',
    'ANGLE (NVIDIA, NVIDIA GeForce RTX 3060 (0x00002504) Direct3D11 vs_5_0 ps_5_0, D3D11)',
    'ANGLE (Apple, ANGLE Metal Renderer: Apple M2, Unspecified Version)',
    'Mesa Intel(R) Xe Graphics (TGL GT2)',
    'WebKit WebGL',
  ])('returns false for the WebGL renderer name "%s"', (renderer) => {
    expect(isSoftwareRendered(renderer)).toBe(false);
  });
});
