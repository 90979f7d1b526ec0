/** File names per format: the extensions of its slides, and the other files that belong to a slide. */

export interface FormatNames {
  /** Equal to `SlideFormat.name` of the format reader. */
  readonly format: string;
  /** Extensions of the main file, in lower case with the dot. Two formats may share an extension. */
  readonly extensions: readonly string[];
  /** Absent for formats whose slides are always a single file. */
  readonly companions?: Companions;
}

/** How the other files of a slide are found from the name of its main file. */
export type Companions =
  /** A folder next to the main file. `folderName` derives its name from `stem`, the main file's without extension; both in lower case. */
  | { readonly kind: 'folder'; readonly folderName: (stem: string) => string }
  /** Files of the same folder that the main file lists; their names follow no rule. */
  | { readonly kind: 'listed' }
  /** Files of the same format in the same folder that belong to one series by their content. */
  | { readonly kind: 'series' }
  /** Files of the same folder whose names match `pattern`. Most slides with these extensions have none. */
  | { readonly kind: 'optional'; readonly pattern: RegExp };

/** File names of every format in `open-slide.ts`; `format-names.test.ts` checks that none is missing. */
export const formatNames: readonly FormatNames[] = [
  { format: 'aperio', extensions: ['.svs'] },
  { format: 'czi', extensions: ['.czi'] },
  { format: 'dicom', extensions: ['.dcm', '.dicom'], companions: { kind: 'series' } },
  { format: 'leica-scn', extensions: ['.scn'] },
  { format: 'ndpi', extensions: ['.ndpi'] },
  { format: 'ome-tiff', extensions: ['.ome.tif', '.ome.tiff'] },
  // OpenSlide reads MIRAX (.mrxs), Hamamatsu (.vms, .vmu) and Sakura (.svslide).
  {
    format: 'openslide',
    extensions: ['.mrxs'],
    companions: { kind: 'folder', folderName: (stem) => stem },
  },
  { format: 'openslide', extensions: ['.vms', '.vmu'], companions: { kind: 'listed' } },
  { format: 'openslide', extensions: ['.svslide'] },
  { format: 'philips-tiff', extensions: ['.tiff'] },
  { format: 'plain-image', extensions: ['.jp2', '.jpg', '.jpeg', '.png'] },
  { format: 'qptiff', extensions: ['.qptiff'] },
  { format: 'tiff', extensions: ['.tif', '.tiff', '.btf'] },
  // Companions: the photograph of the glass (.full) and the tile overlaps of each level (.tif-1b, .tif-2b …).
  {
    format: 'trestle',
    extensions: ['.tif'],
    companions: { kind: 'optional', pattern: /\.full$|\.tif-\d+b$/i },
  },
  { format: 'ventana-bif', extensions: ['.bif'] },
  {
    format: 'vsi',
    extensions: ['.vsi'],
    companions: { kind: 'folder', folderName: (stem) => `_${stem}_` },
  },
];

/** Text at a fixed offset in every DICOM file; it identifies DICOM files without an extension. Source: DICOM PS3.10, section 7.1. */
export const dicomSignature = { offset: 128, text: 'DICM' } as const;
