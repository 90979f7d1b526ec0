import type { ManagedImage } from '@lamina/contract';

/** What is to be asked before something is done, and of which slides: one, or many. */
export interface DialogRequest {
  readonly kind: 'edit' | 'move' | 'organ' | 'remove';
  /** Not empty. */
  readonly slides: readonly ManagedImage[];
}

/** What a form inside the dialog is given. */
export interface SlideFormProps {
  readonly slides: readonly ManagedImage[];
  readonly onClose: () => void;
  /** It has been done. */
  readonly onDone: () => void;
}
