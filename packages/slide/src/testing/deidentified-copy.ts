import { deidentifyDicom } from '../deidentify/deidentify-dicom.ts';
import { deidentifyTiff } from '../deidentify/deidentify-tiff.ts';
import { jpegMetadataEraser } from '../deidentify/jpeg-metadata.ts';
import { applyPatches } from '../deidentify/patches.ts';
import { isDicom } from '../dicom/file-meta.ts';
import { memorySource } from '../source/memory-source.ts';

/**
 * Returns the de-identified copy of a TIFF or DICOM file.
 *
 * @param partBytes length of the parts in which the copy is read; by default it is read as a whole
 * @throws NotDeidentifiable
 */
export async function deidentifiedCopy(bytes: Uint8Array, partBytes = bytes.length): Promise<Buffer> {
  const source = memorySource(bytes);
  const deidentification = await (isDicom(bytes) ? deidentifyDicom(source, 'salt') : deidentifyTiff(source));
  if (deidentification === null) throw new Error('the file is a label');
  const eraseJpegMetadata = jpegMetadataEraser(source, deidentification.jpegStreams);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += partBytes) {
    const part = await source.read(at, Math.min(partBytes, bytes.length - at));
    await eraseJpegMetadata(part, at);
    applyPatches(deidentification.patches, part, at);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
