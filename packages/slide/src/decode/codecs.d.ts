/**
 * Type declarations for the parts of two WebAssembly codecs that Lamina uses: OpenJPEG (JPEG 2000) and CharLS
 * (JPEG-LS). Their packages contain no types. Both encoders only generate files for tests; jpeg-ls.ts decodes JPEG-LS.
 */

/** Callbacks for the lines that the codec prints; OpenJPEG reports its errors only there. */
interface CodecOptions {
  print?: (line: string) => void;
  printErr?: (line: string) => void;
}

interface CodecFrame {
  readonly width: number;
  readonly height: number;
  readonly bitsPerSample: number;
  readonly componentCount: number;
  readonly isSigned?: boolean;
}

/** An object in the codec's memory, which `delete` frees. */
interface CodecDecoder {
  /** A view of the codec's memory. It must be filled immediately, because the memory moves when it grows. */
  getEncodedBuffer(length: number): Uint8Array;
  decode(): void;
  /** A copy of the pixels; empty when decoding failed. */
  getDecodedBuffer(): Uint8ClampedArray;
  getFrameInfo(): CodecFrame;
  delete(): void;
}

interface CodecEncoder {
  /** Returns the buffer into which the caller writes the samples to encode. */
  getDecodedBuffer(frame: CodecFrame): Uint8Array;
  encode(): void;
  getEncodedBuffer(): Uint8Array;
  delete(): void;
}

declare module '@cornerstonejs/codec-openjpeg/decodewasmjs' {
  interface J2KDecoder extends CodecDecoder {
    /**
     * @param halvings how many times both sides are halved: 0 for full width and height, 1 for half, 2 for a quarter
     * @param layers number of quality layers; 0 for all
     */
    decodeSubResolution(halvings: number, layers: number): void;
  }
  export default function openJpeg(options: CodecOptions): Promise<{
    /** The whole memory of the codec; its length shows how much the codec has allocated. */
    readonly HEAPU8: Uint8Array;
    readonly J2KDecoder: new () => J2KDecoder;
  }>;
}

declare module '@cornerstonejs/codec-openjpeg/wasmjs' {
  interface J2KEncoder extends CodecEncoder {
    setQuality(isLossless: boolean, rate: number): void;
    /** @param count number of smaller resolutions, each half the size of the one before */
    setDecompositions(count: number): void;
  }
  export default function openJpeg(options: CodecOptions): Promise<{
    readonly J2KEncoder: new () => J2KEncoder;
  }>;
}

declare module '@cornerstonejs/codec-charls/wasmjs' {
  interface JpegLSEncoder extends CodecEncoder {
    /** @param mode 0: component by component, 1: line by line, 2: pixel by pixel */
    setInterleaveMode(mode: number): void;
    /** @param near maximum difference of a decoded sample from the original; 0 for lossless */
    setNearLossless(near: number): void;
  }
  export default function charls(options: CodecOptions): Promise<{
    readonly JpegLSEncoder: new () => JpegLSEncoder;
  }>;
}
