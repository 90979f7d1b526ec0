import type { Image } from '@lamina/contract';
import { memo } from 'react';
import { AnnotationCount } from './AnnotationCount.tsx';
import classes from './ImageCatalog.module.css';
import { Thumbnail } from './Thumbnail.tsx';
import { texts } from './texts.ts';

/** Number of characters of the id that a row shows, counted from its start. */
const idPrefixLength = 8;

interface ImageRowProps {
  /** Key of this row in the list. Written to the attribute `data-line`, by which the list finds the button to focus. */
  readonly lineKey: string;
  /** Undefined while the row is loading. */
  readonly image: Image | undefined;
  /** Index of the image in its branch (a case or group of the list), from 0. */
  readonly indexInBranch: number;
  /** Number of images in the branch. */
  readonly count: number;
  /** Distance from the first row of the branch, in pixels. */
  readonly top: number;
  /** Whether the viewer shows this image. */
  readonly isSelected: boolean;
  /** Whether the Tab key focuses this row. */
  readonly isTabStop: boolean;
  /** Id of the image session (the credential for loading pixels) for the thumbnail; null while there is none. */
  readonly session: string | null;
  /** Called when the mouse button goes down on an image that is not selected, so that its data can load before `onSelect`. */
  readonly onPress: (image: Image) => void;
  readonly onSelect: (imageId: string) => void;
  readonly onThumbnailFailed: () => void;
}

/** The row of one image in the catalogue. Memoised, because scrolling renders the list again without changing most rows. */
export const ImageRow = memo(function ImageRow(props: ImageRowProps) {
  const { image } = props;
  const name = image === undefined ? texts.loadingImages : image.file_name || image.id;
  return (
    <li
      className={classes.row}
      style={{ top: props.top }}
      aria-posinset={props.indexInBranch + 1}
      aria-setsize={props.count}
    >
      <button
        type="button"
        className={classes.rowButton}
        data-line={props.lineKey}
        aria-busy={image === undefined || undefined}
        tabIndex={props.isTabStop ? 0 : -1}
        aria-current={props.isSelected || undefined}
        onPointerDown={({ pointerType, button }) => {
          // Only for a mouse, because a touch may begin a scroll.
          if (image !== undefined && pointerType === 'mouse' && button === 0 && !props.isSelected) {
            props.onPress(image);
          }
        }}
        onClick={() => image !== undefined && props.onSelect(image.id)}
      >
        {image === undefined ? (
          <span className={classes.thumbnail} />
        ) : (
          <Thumbnail
            imageId={image.id}
            session={image.status === 'ready' ? props.session : null}
            onFailed={props.onThumbnailFailed}
          />
        )}
        <span className={classes.rowText}>
          <span className={classes.rowName} title={name}>
            {name}
          </span>
          {image !== undefined && (
            <span className={classes.rowDetails}>
              <span>{image.organ_type ?? texts.unknown}</span>
              {image.status !== 'ready' && (
                <span className={classes.rowStatus}>{texts.imageStatus[image.status]}</span>
              )}
              {image.hidden && <span className={classes.rowStatus}>{texts.hidden}</span>}
              <AnnotationCount imageId={image.id} />
              <span className={classes.rowId}>{image.id.slice(0, idPrefixLength)}</span>
            </span>
          )}
        </span>
      </button>
    </li>
  );
});
