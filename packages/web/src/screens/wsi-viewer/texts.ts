const fourDigits = (value: number) => String(Number(value.toPrecision(4)));

/** Every word this screen shows. */
export const texts = {
  imageCatalog: 'Image Catalog',
  searchPlaceholder: 'Search images...',
  showCatalog: 'Show image catalog',
  hideCatalog: 'Hide image catalog',
  unknown: 'Unknown',
  images: 'images',
  noImages: 'No images available',
  imageStatus: { pending: 'Being read', ready: 'Ready', failed: 'Cannot be read' },
  noMatches: 'No images match your search',
  loadingImages: 'Loading images...',
  retry: 'Retry',

  restrictedDatasets: 'Restricted datasets',
  requestAccess: 'Request access',
  requestAccessTo: (dataset: string) => `Request access to ${dataset}`,
  requestHint: (dataset: string) => `An administrator will read why you need “${dataset}”.`,
  reason: 'Reason',
  reasonRequired: 'Please say why you need it.',
  sendRequest: 'Send request',
  close: 'Close',
  requested: 'Access requested',
  accessEnded: 'Your access has ended',
  declined: 'Your request was declined',
  declinedBecause: (reason: string) => `Your request was declined: ${reason}`,

  selectedImage: 'Selected Image',
  whoOpened: 'Who opened this slide',
  name: 'Name',
  dataset: 'Dataset',
  organ: 'Organ',
  size: 'Size',
  pixels: (width: number, height: number) =>
    `${width.toLocaleString('en')} × ${height.toLocaleString('en')} px`,
  pixelSize: 'Pixel size',
  micrometres: (x: number, y: number) =>
    x === y ? `${fourDigits(x)} µm` : `${fourDigits(x)} × ${fourDigits(y)} µm`,
  objective: 'Objective',
  power: (power: number) => `${Number(power.toPrecision(3))}×`,
  /** A figure that the file does not say. */
  estimatedIf: (isEstimated: boolean, text: string) => (isEstimated ? `≈ ${text}` : text),
  format: 'Format',
  status: 'Status',
  notAvailable: 'N/A',

  session: 'Session',
  sessionStatus: {
    active: 'Active',
    inactive: 'Inactive',
    error: 'Error',
    refreshing: 'Refreshing...',
  },
  refreshSession: 'Refresh session',
  showStats: 'Show session stats',
  hideStats: 'Hide session stats',

  stats: 'Session stats',
  statsSession: 'Session ID',
  statsValidity: 'Validity',
  statsAge: 'Age',
  statsRequests: 'Requests',
  statsActiveSessions: 'Active sessions',
  statsFailed: 'The statistics could not be loaded.',
  valid: (minutes: number) => `Valid (${minutes} min left)`,
  invalid: 'Not valid',
  seconds: (seconds: number) => `${seconds} s`,

  nothingSelected: 'Select an image to view',
  nothingSelectedHint: 'Choose an image from the sidebar to start viewing',

  loadingTiles: 'Loading tiles...',
  opening: 'Opening the slide...',
  tiles: (loaded: number, asked: number) => `${loaded} of ${asked} tiles`,
  retryingTiles: 'Error loading tiles. Retrying...',
  renewingSession: 'Session expired. Creating new session...',

  serverError: (status: number, message: string) =>
    message ? `Server error (${status}): ${message}` : `Server error (${status})`,
  unreadable: 'Failed to load image. Please try another image.',
  sessionLost: 'Failed to create new session. Please refresh the page.',
  imageFailed: 'Error loading image. Please try again.',
};
